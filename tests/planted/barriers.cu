// Barriers that not all threads of the block, or not all lanes of a mask, reach.
// <<<1, 64>>>
extern "C" __global__ void two_barriers(float *y) {
    if (threadIdx.x < 32) __syncthreads();  // BUG divergent barrier
    else
        __syncthreads();  // BUG divergent barrier
    y[threadIdx.x] = 1.f;
}
// <<<1, 64>>>
extern "C" __global__ void one_barrier_right(float *y) {
    if (threadIdx.x < 32) y[threadIdx.x] = 1.f;
    __syncthreads();
    if (threadIdx.x >= 32) y[threadIdx.x] = y[threadIdx.x - 32];
}
// <<<1, 64>>>
extern "C" __global__ void in_one_branch(float *y) {
    if (threadIdx.x < 32) __syncthreads();  // BUG skipped barrier
    y[threadIdx.x] = 1.f;
}
// <<<1, 64>>>
extern "C" __global__ void left_early(int n, float *y) {
    if (threadIdx.x >= 40) return;
    y[threadIdx.x] = 1.f;
    __syncthreads();  // BUG skipped barrier
    y[threadIdx.x] += 1.f;
}
// <<<1, 64>>>
extern "C" __global__ void loop_of_different_length(float *y) {
    for (int i = 0; i < (int)threadIdx.x % 3 + 1; i++)
        __syncthreads();  // BUG skipped barrier
    y[threadIdx.x] = 1.f;
}
// <<<1, 64>>>
extern "C" __global__ void loop_right(float *y) {
    for (int i = 0; i < 3; i++) {
        if (i <= (int)threadIdx.x % 3) y[threadIdx.x] += 1.f;
        __syncthreads();
    }
}
// <<<1, 32>>>
extern "C" __global__ void barrier_against_shuffle(float *y) {
    float v = 1.f;
    if (threadIdx.x == 0) __syncthreads();  // BUG deadlock warp mask
    else v = __shfl_sync(0xffffffffu, v, 1);  // BUG deadlock warp mask
    y[threadIdx.x] = v;
}
// <<<1, 64>>>
extern "C" __global__ void counted_barrier_in_branch(int *y) {
    if (threadIdx.x % 2)
        y[threadIdx.x] = __syncthreads_count(1);  // BUG skipped barrier
}
// <<<1, 64>>>
extern "C" __global__ void counted_barrier_right(int *y) {
    y[threadIdx.x] = __syncthreads_count(threadIdx.x % 2);
}
// <<<1, 32>>>
extern "C" __global__ void fence_in_branch(float *y) {
    if (threadIdx.x < 16) __syncwarp();  // BUG warp mask deadlock
    y[threadIdx.x] = 1.f;
}
// <<<1, 32>>>
extern "C" __global__ void fence_in_branch_right(float *y) {
    if (threadIdx.x < 16) __syncwarp(0xffff);
    y[threadIdx.x] = 1.f;
}
