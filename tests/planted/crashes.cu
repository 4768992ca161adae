// Kernels that would not come back.
// <<<1, 1>>>
extern "C" __global__ void runaway(float *y) {
    for (int i = 0; i >= 0; i = (i + 1) % 64)  // BUG time limit
        y[i] += 1.f;  // BUG time limit
}
// <<<1, 1>>>
extern "C" __global__ void runaway_without_memory(int n, float *y) {
    unsigned k = n;
    while (k != 3)  // BUG time limit
        k = k * 2 + 2;  // BUG time limit
    y[0] = k;
}
// <<<1, 2>>>
extern "C" __global__ void waits_for_a_flag(volatile int *y) {
    while (y[0] == 0) {}  // BUG time limit
    y[1] = 1;
}
// <<<1, 4>>>
extern "C" __global__ void failed_assertion(float *y) {
    assert(threadIdx.x < 3);  // BUG assertion
    y[threadIdx.x] = 1.f;
}
// <<<1, 4>>>
extern "C" __global__ void assertion_right(float *y) {
    assert(threadIdx.x < 4);
    y[threadIdx.x] = 1.f;
}
// <<<1, 4>>>
extern "C" __global__ void trapped(float *y) {
    if (threadIdx.x == 2) __trap();  // BUG trap
    y[threadIdx.x] = 1.f;
}
// <<<1, 4>>>
extern "C" __global__ void divided_by_zero(const int *x, int *y) {
    y[threadIdx.x] = 100 / x[threadIdx.x];  // BUG division by zero
}
