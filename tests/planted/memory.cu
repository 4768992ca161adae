// Misaligned vectors, constants that are written, tiles that tensor cores cannot load.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
// <<<1, 4>>>
extern "C" __global__ void float4_misaligned(const float *x, float *y) {
    float4 v = *reinterpret_cast<const float4 *>(x + threadIdx.x);  // BUG misaligned
    y[threadIdx.x] = v.x + v.y + v.z + v.w;
}
// <<<1, 4>>>
extern "C" __global__ void float4_right(const float *x, float *y) {
    float4 v = *reinterpret_cast<const float4 *>(x + 4 * threadIdx.x);
    y[threadIdx.x] = v.x + v.y + v.z + v.w;
}
// <<<1, 4>>>
extern "C" __global__ void float2_store_misaligned(float *y) {
    float2 v = make_float2(1.f, 2.f);
    *reinterpret_cast<float2 *>(y + 3 * threadIdx.x) = v;  // BUG misaligned
}
// <<<1, 4>>>
extern "C" __global__ void half2_misaligned(const __half *x, float *y) {
    __half2 v = *reinterpret_cast<const __half2 *>(x + threadIdx.x);  // BUG misaligned
    y[threadIdx.x] = __half2float(__low2half(v));
}
// <<<1, 4>>>
extern "C" __global__ void half2_right(const __half *x, float *y) {
    __half2 v = *reinterpret_cast<const __half2 *>(x + 2 * threadIdx.x);
    y[threadIdx.x] = __half2float(__low2half(v));
}
// <<<1, 4>>>
extern "C" __global__ void int_misaligned(const signed char *x, int *y) {
    y[threadIdx.x] = *reinterpret_cast<const int *>(x + threadIdx.x);  // BUG misaligned
}
// <<<1, 32>>>
extern "C" __global__ void shared_float4_misaligned(float *y) {
    __shared__ __align__(16) float s[33];
    s[threadIdx.x] = 1.f;
    __syncthreads();
    float4 v = *reinterpret_cast<float4 *>(&s[threadIdx.x % 8]);  // BUG misaligned
    y[threadIdx.x] = v.w;
}
// <<<1, 64>>>
extern "C" __global__ void const_argument(const float *x) {
    const_cast<float *>(x)[threadIdx.x] = 0.f;  // BUG write to constant
}
__constant__ float table[4];
// <<<1, 4>>>
extern "C" __global__ void constant_memory(float *y) {
    const_cast<volatile float *>(table)[threadIdx.x] = 1.f;  // BUG write to constant
    y[threadIdx.x] = table[threadIdx.x];
}
// <<<1, 4>>>
extern "C" __global__ void constant_memory_right(float *y) {
    y[threadIdx.x] = table[threadIdx.x];
}
// <<<1, 32>>>  __half *x: 512, float *y: 512
extern "C" __global__ void tile_misaligned(const __half *x, float *y) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::load_matrix_sync(a, x + 8, 16);  // BUG matrix alignment
    wmma::fill_fragment(c, 0.f);
    wmma::store_matrix_sync(y, c, 16, wmma::mem_row_major);
}
// <<<1, 32>>>  __half *x: 512, float *y: 512
extern "C" __global__ void tile_stride(const __half *x, float *y) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::load_matrix_sync(a, x, 17);  // BUG matrix alignment
    wmma::fill_fragment(c, 0.f);
    wmma::store_matrix_sync(y, c, 16, wmma::mem_row_major);
}
// <<<1, 32>>>  __half *x: 512, float *y: 512
extern "C" __global__ void tile_right(const __half *x, float *y) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::load_matrix_sync(a, x, 16);
    wmma::load_matrix_sync(b, x + 256, 16);
    wmma::fill_fragment(c, 0.f);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(y, c, 16, wmma::mem_row_major);
}
// <<<1, 32>>>  __half *x: 512, float *y: 200
extern "C" __global__ void tile_too_large(const __half *x, float *y) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.f);
    wmma::store_matrix_sync(y, c, 16, wmma::mem_row_major);  // BUG out of bounds
}
// <<<1, 64>>>  float *y: 256
extern "C" __global__ void tile_read_without_fence(float *y) {
    __shared__ __align__(32) float s[2][256];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 1.f);
    wmma::store_matrix_sync(s[warp], c, 16, wmma::mem_row_major);  // BUG race
    y[threadIdx.x] = s[warp][255 - lane];  // BUG race uninitialised
}
// <<<1, 64>>>  float *y: 256
extern "C" __global__ void tile_read_right(float *y) {
    __shared__ __align__(32) float s[2][256];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 1.f);
    wmma::store_matrix_sync(s[warp], c, 16, wmma::mem_row_major);
    __syncwarp();
    y[threadIdx.x] = s[warp][255 - lane];
}
