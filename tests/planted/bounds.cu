// Accesses outside an array. Above each kernel stands its launch; a line to be named ends with a comment BUG and the kind of finding.
#include <cuda_fp16.h>
// <<<1, 64>>>
extern "C" __global__ void read_after_end(const float *x, float *y) {
    int i = threadIdx.x;
    y[i] = x[i + 1];  // BUG out of bounds
}
// <<<1, 64>>>
extern "C" __global__ void read_after_end_right(const float *x, float *y) {
    int i = threadIdx.x;
    y[i] = i + 1 < 64 ? x[i + 1] : 0.f;
}
// <<<1, 64>>>
extern "C" __global__ void write_after_end(float *y) {
    y[threadIdx.x + 1] = 1.f;  // BUG out of bounds
}
// <<<1, 64>>>
extern "C" __global__ void read_before_start(const float *x, float *y) {
    int i = threadIdx.x;
    y[i] = x[i]
         - x[i - 1];  // BUG out of bounds
}
// <<<3, 32>>>
extern "C" __global__ void no_guard(int n, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2.f;  // BUG out of bounds
}
// <<<3, 32>>>
extern "C" __global__ void no_guard_right(int n, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.f;
}
// <<<1, (8, 8)>>>
extern "C" __global__ void wrong_pitch(const float *x, float *y) {
    int row = threadIdx.y, column = threadIdx.x;
    float v = x[row * 8 + column];
    y[row * 9 + column] = v;  // BUG out of bounds
}
// <<<1, (8, 8)>>>
extern "C" __global__ void wrong_pitch_right(const float *x, float *y) {
    int row = threadIdx.y, column = threadIdx.x;
    float v = x[row * 8 + column];
    y[row * 8 + column] = v;
}
// <<<1, 64>>>
extern "C" __global__ void bytes_after_end(const signed char *x, signed char *y) {
    y[threadIdx.x] = x[threadIdx.x ^ 64];  // BUG out of bounds
}
// <<<1, 64>>>
extern "C" __global__ void bytes_right(const signed char *x, signed char *y) {
    y[threadIdx.x] = x[threadIdx.x ^ 63];
}
// <<<1, 64>>>
extern "C" __global__ void half_after_end(const __half *x, float *y) {
    y[threadIdx.x] = __half2float(x[2 * threadIdx.x]);  // BUG out of bounds
}
// <<<1, 64>>>
extern "C" __global__ void vector_after_end(const float *x, float *y) {
    float4 v = reinterpret_cast<const float4 *>(x)[threadIdx.x / 2];  // BUG out of bounds
    y[threadIdx.x] = v.x + v.w;
}
// <<<1, 64>>>
extern "C" __global__ void vector_right(const float *x, float *y) {
    float4 v = reinterpret_cast<const float4 *>(x)[threadIdx.x / 4];
    y[threadIdx.x] = v.x + v.w;
}
// <<<1, 64>>>
extern "C" __global__ void shared_too_small(float *y) {
    __shared__ float s[32];
    s[threadIdx.x] = 1.f;  // BUG array index
    __syncthreads();
    y[threadIdx.x] = s[0];
}
// <<<1, 64>>>
extern "C" __global__ void beyond_a_row(float *y) {
    __shared__ float s[8][8];
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    s[row][column] = 1.f;
    __syncthreads();
    y[threadIdx.x] = s[row][column + 1];  // BUG array index
}
// <<<1, 64, 128>>>
extern "C" __global__ void dynamic_too_small(float *y) {
    extern __shared__ float words[];
    words[threadIdx.x] = 1.f;  // BUG out of bounds
    __syncthreads();
    y[threadIdx.x] = words[0];
}
// <<<1, 64, 256>>>
extern "C" __global__ void dynamic_right(float *y) {
    extern __shared__ float words[];
    words[threadIdx.x] = 1.f;
    __syncthreads();
    y[threadIdx.x] = words[0];
}
// <<<1, 64, 256>>>
extern "C" __global__ void dynamic_before_start(float *y) {
    extern __shared__ float words[];
    words[threadIdx.x] = 1.f;
    __syncthreads();
    y[threadIdx.x] = words[(int)threadIdx.x - 1];  // BUG out of bounds
}
// <<<1, 64>>>
extern "C" __global__ void local_array(const float *x, float *y) {
    float a[4] = {x[0], x[1], x[2], x[3]};
    y[threadIdx.x] = a[threadIdx.x % 5];  // BUG array index
}
__constant__ float weights[8];
// <<<1, 64>>>
extern "C" __global__ void constant_index(float *y) {
    y[threadIdx.x] = weights[threadIdx.x / 4];  // BUG array index
}
// <<<1, 64>>>
extern "C" __global__ void atomic_after_end(int n, int *y) {
    atomicAdd(&y[n], 1);  // BUG out of bounds
}
__device__ float last_of(const float *p, int n) {
    return p[n];  // BUG out of bounds
}
// <<<1, 64>>>
extern "C" __global__ void in_a_function(int n, const float *x, float *y) {
    y[threadIdx.x] = last_of(x, n);
}
__device__ __noinline__ void fill(float *p, int n) {
    for (int i = 0; i <= n; i++)
        p[i] = 0.f;  // BUG out of bounds
}
// <<<1, 1>>>
extern "C" __global__ void shared_by_pointer(int n, float *y) {
    __shared__ float s[64];
    fill(s, n);
    y[0] = s[0];
}
// <<<1, 1>>>
extern "C" __global__ void far_away(float *y) {
    y[1 << 28] = 1.f;  // BUG out of bounds
}
// <<<1, 1>>>
extern "C" __global__ void null_pointer(long long *y) {
    float *p = reinterpret_cast<float *>(y[0]);
    *p = 1.f;  // BUG out of bounds
}
