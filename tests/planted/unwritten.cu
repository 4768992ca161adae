// Shared memory that is read before anyone in the block has written it.
// <<<1, 64>>>
extern "C" __global__ void never_written(float *y) {
    __shared__ float s[64];
    y[threadIdx.x] = s[threadIdx.x];  // BUG uninitialised
}
// <<<1, 64>>>
extern "C" __global__ void half_written(float *y) {
    __shared__ float s[64];
    if (threadIdx.x < 32) s[threadIdx.x] = 1.f;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x];  // BUG uninitialised
}
// <<<1, 64>>>
extern "C" __global__ void half_written_right(float *y) {
    __shared__ float s[64];
    if (threadIdx.x < 32) s[threadIdx.x] = 1.f;
    else s[threadIdx.x] = 0.f;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x];
}
// <<<1, 64, 512>>>
extern "C" __global__ void dynamic_unwritten(float *y) {
    extern __shared__ float words[];
    words[threadIdx.x] = 1.f;
    __syncthreads();
    y[threadIdx.x] = words[threadIdx.x + 1];  // BUG uninitialised
}
// <<<2, 32>>>
extern "C" __global__ void only_first_block(float *y) {
    __shared__ float s;
    if (blockIdx.x == 0 && threadIdx.x == 0) s = 3.f;
    __syncthreads();
    y[blockIdx.x * 32 + threadIdx.x] = s;  // BUG uninitialised
}
// <<<2, 32>>>
extern "C" __global__ void only_first_thread_right(float *y) {
    __shared__ float s;
    if (threadIdx.x == 0) s = 3.f;
    __syncthreads();
    y[blockIdx.x * 32 + threadIdx.x] = s;
}
// <<<1, 64>>>
extern "C" __global__ void histogram_not_cleared(const int *x, int *y) {
    __shared__ int bins[64];
    atomicAdd(&bins[x[threadIdx.x]], 1);  // BUG uninitialised
    __syncthreads();
    y[threadIdx.x] = bins[threadIdx.x];
}
// <<<1, 64>>>
extern "C" __global__ void histogram_right(const int *x, int *y) {
    __shared__ int bins[64];
    bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[x[threadIdx.x]], 1);
    __syncthreads();
    y[threadIdx.x] = bins[threadIdx.x];
}
// <<<1, 64>>>
extern "C" __global__ void structure_copied_right(float *y) {
    struct Row { float v[12]; };
    __shared__ Row rows[64];
    Row mine;
    for (int i = 0; i < 12; i++) mine.v[i] = i;
    rows[threadIdx.x] = mine;
    __syncthreads();
    Row other = rows[63 - threadIdx.x];
    y[threadIdx.x] = other.v[threadIdx.x % 12];
}
