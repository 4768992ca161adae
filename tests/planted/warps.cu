// Shuffles and votes whose masks do not fit.
// <<<1, 32>>>
extern "C" __global__ void lane_not_in_mask(float *y) {
    float v = threadIdx.x;
    if (threadIdx.x < 16) v = __shfl_sync(0xffffu, v, 20);  // BUG shuffle lane
    y[threadIdx.x] = v;
}
// <<<1, 32>>>
extern "C" __global__ void lane_in_mask_right(float *y) {
    float v = threadIdx.x;
    if (threadIdx.x < 16) v = __shfl_sync(0xffffu, v, 10);
    y[threadIdx.x] = v;
}
// <<<1, 32>>>
extern "C" __global__ void caller_not_in_mask(float *y) {
    float v = threadIdx.x;
    v += __shfl_xor_sync(0x7fffffffu, v, 1);  // BUG warp mask shuffle lane
    y[threadIdx.x] = v;
}
// <<<1, 32>>>
extern "C" __global__ void full_mask_in_branch(float *y) {
    float v = threadIdx.x;
    if (threadIdx.x < 20) v = __shfl_down_sync(0xffffffffu, v, 1);  // BUG warp mask deadlock
    y[threadIdx.x] = v;
}
// <<<1, 32>>>
extern "C" __global__ void full_mask_right(float *y) {
    float v = threadIdx.x, w = __shfl_down_sync(0xffffffffu, v, 1);
    y[threadIdx.x] = threadIdx.x < 20 ? w : v;
}
// <<<1, 32>>>
extern "C" __global__ void vote_after_some_left(int n, int *y) {
    for (int i = threadIdx.x; i < 40; i += 32)
        y[i] = __ballot_sync(0xffffffffu, i % 2);  // BUG warp mask deadlock
}
// <<<1, 32>>>
extern "C" __global__ void vote_after_some_left_right(int n, int *y) {
    for (int i = threadIdx.x; i < 64; i += 32) {
        unsigned votes = __ballot_sync(0xffffffffu, i % 2);
        if (i < 40) y[i] = votes;
    }
}
// <<<1, 48>>>
extern "C" __global__ void short_warp_right(float *y) {
    float v = __shfl_xor_sync(0xffffffffu, (float)threadIdx.x, 1);
    y[threadIdx.x] = v;
}
