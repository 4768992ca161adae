// Two threads at one place, one of them writing, and nothing that makes them wait for each other.
// <<<1, 64>>>
extern "C" __global__ void no_barrier(const float *x, float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];  // BUG race
    y[threadIdx.x] = s[63 - threadIdx.x];  // BUG race uninitialised
}
// <<<1, 64>>>
extern "C" __global__ void no_barrier_right(const float *x, float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[63 - threadIdx.x];
}
// <<<1, 64>>>
extern "C" __global__ void next_tile_too_early(const float *x, float *y) {
    __shared__ float s[64];
    float sum = 0.f;
    for (int t = 0; t < 4; t++) {
        s[threadIdx.x] = x[(threadIdx.x + t) % 64];  // BUG race
        __syncthreads();
        sum += s[63 - threadIdx.x];  // BUG race
    }
    y[threadIdx.x] = sum;
}
// <<<1, 64>>>
extern "C" __global__ void next_tile_right(const float *x, float *y) {
    __shared__ float s[64];
    float sum = 0.f;
    for (int t = 0; t < 4; t++) {
        s[threadIdx.x] = x[(threadIdx.x + t) % 64];
        __syncthreads();
        sum += s[63 - threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}
// <<<1, 64>>>
extern "C" __global__ void all_write_one(const float *x, float *y) {
    __shared__ float s;
    s = x[threadIdx.x];  // BUG race
    __syncthreads();
    y[threadIdx.x] = s;
}
// <<<1, 64>>>
extern "C" __global__ void one_writes_right(const float *x, float *y) {
    __shared__ float s;
    if (threadIdx.x == 5) s = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s;
}
// <<<1, 64>>>
extern "C" __global__ void reduction_without_barrier(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2)
        if (t < d) s[t] += s[t + d];  // BUG race
    if (t == 0) y[0] = s[0];
}
// <<<1, 64>>>
extern "C" __global__ void reduction_right(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) y[0] = s[0];
}
// <<<1, 64>>>
extern "C" __global__ void global_all_write(float *y) {
    y[threadIdx.x / 2] = threadIdx.x;  // BUG race
}
// <<<1, 64>>>
extern "C" __global__ void shift_in_place(float *y) {
    int i = threadIdx.x;
    if (i < 63) y[i] = y[i + 1];  // BUG race
}
// <<<1, 64>>>
extern "C" __global__ void shift_in_place_right(float *y) {
    int i = threadIdx.x;
    float v = i < 63 ? y[i + 1] : 0.f;
    __syncthreads();
    y[i] = v;
}
// <<<4, 32>>>
extern "C" __global__ void blocks_add(float *y) {
    if (threadIdx.x == 0) y[0] += 1.f;  // BUG race between blocks
}
// <<<4, 32>>>
extern "C" __global__ void blocks_add_right(float *y) {
    if (threadIdx.x == 0) atomicAdd(&y[0], 1.f);
}
// <<<4, 16>>>
extern "C" __global__ void stencil_in_place(float *y) {
    int i = blockIdx.x * 16 + threadIdx.x;
    float v = i < 63 ? y[i + 1] : 0.f;  // BUG race between blocks
    __syncthreads();
    y[i] = v;  // BUG race between blocks
}
// <<<1, 64>>>
extern "C" __global__ void atomic_then_plain(int *y) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, 1);  // BUG race
    y[threadIdx.x] = sum;  // BUG race
}
// <<<1, 64>>>
extern "C" __global__ void atomic_then_plain_right(int *y) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, 1);
    __syncthreads();
    y[threadIdx.x] = sum;
}
// <<<1, 64>>>
extern "C" __global__ void cleared_by_all(int *y) {
    __shared__ int sum;
    sum = 0;  // BUG race
    atomicAdd(&sum, 1);  // BUG race
    __syncthreads();
    y[threadIdx.x] = sum;
}
// <<<4, 16>>>
extern "C" __global__ void plain_read_of_counter(int *y) {
    if (threadIdx.x == 0) {
        atomicAdd(&y[0], 1);  // BUG race between blocks
        y[1 + blockIdx.x] = y[0];  // BUG race between blocks
    }
}
// <<<4, 16>>>
extern "C" __global__ void last_block_without_fence(const float *x, float *y, float *out, unsigned *tickets) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        y[blockIdx.x] = x[blockIdx.x];  // BUG race between blocks
        last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int b = 0; b < 4; b++)
            out[0] += y[b];  // BUG race between blocks
}
// <<<4, 16>>>
extern "C" __global__ void last_block_right(const float *x, float *y, float *out, unsigned *tickets) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        y[blockIdx.x] = x[blockIdx.x];
        __threadfence();
        last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int b = 0; b < 4; b++)
            out[0] += y[b];
}
// <<<4, 16>>>
extern "C" __global__ void last_block_all_threads_right(const float *x, float *y, float *out, unsigned *tickets) {
    __shared__ bool last;
    y[blockIdx.x * 16 + threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last)
        for (int b = 0; b < 4; b++)
            out[threadIdx.x] += y[b * 16 + threadIdx.x];
}
// <<<1, 32>>>
extern "C" __global__ void lanes_without_fence(const float *x, float *y) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];  // BUG race
    y[threadIdx.x] = s[31 - threadIdx.x];  // BUG race uninitialised
}
// <<<1, 32>>>
extern "C" __global__ void lanes_right(const float *x, float *y) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = s[31 - threadIdx.x];
}
// <<<1, 64>>>
extern "C" __global__ void volatile_is_no_fence(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        volatile float *v = s;
        v[t] += v[t + 32];  // BUG race
        v[t] += v[t + 16];  // BUG race
    }
    __syncthreads();
    if (t == 0) y[0] = s[0];
}
// <<<1, 64>>>
extern "C" __global__ void warp_reduction_right(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        for (int d = 32; d > 0; d /= 2) {
            float v = s[t] + s[t + d];
            __syncwarp();
            s[t] = v;
            __syncwarp();
        }
    }
    if (t == 0) y[0] = s[0];
}
// <<<1, 32>>>
extern "C" __global__ void fence_of_half_a_warp(const float *x, float *y) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];  // BUG race
    if (threadIdx.x < 16) __syncwarp(0x0000ffff);
    else __syncwarp(0xffff0000);
    y[threadIdx.x] = s[31 - threadIdx.x];  // BUG race uninitialised
}
// <<<1, 32>>>
extern "C" __global__ void fence_of_half_a_warp_right(const float *x, float *y) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 16) __syncwarp(0x0000ffff);
    else __syncwarp(0xffff0000);
    y[threadIdx.x] = s[threadIdx.x ^ 15];
}
// <<<1, 32>>>
extern "C" __global__ void shuffle_is_no_fence(const float *x, float *y) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];  // BUG race
    float v = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
    y[threadIdx.x] = v + s[31 - threadIdx.x];  // BUG race
}
// <<<1, 64>>>
extern "C" __global__ void one_buffer_too_few(const float *x, float *y) {
    __shared__ float s[2][64];
    float sum = 0.f;
    for (int t = 0; t < 4; t++) {
        s[t % 3 % 2][threadIdx.x] = x[(threadIdx.x + t) % 64];  // BUG race
        __syncthreads();
        sum += s[t % 3 % 2][63 - threadIdx.x];  // BUG race
    }
    y[threadIdx.x] = sum;
}
// <<<1, 64>>>
extern "C" __global__ void two_buffers_right(const float *x, float *y) {
    __shared__ float s[2][64];
    float sum = 0.f;
    for (int t = 0; t < 4; t++) {
        s[t % 2][threadIdx.x] = x[(threadIdx.x + t) % 64];
        __syncthreads();
        sum += s[t % 2][63 - threadIdx.x];
    }
    y[threadIdx.x] = sum;
}
// <<<1, 64>>>
extern "C" __global__ void bytes_through_words(unsigned char *y) {
    unsigned *words = reinterpret_cast<unsigned *>(y);
    words[threadIdx.x / 4] |= 1u << (threadIdx.x % 4 * 8);  // BUG race
}
// <<<1, 64>>>
extern "C" __global__ void bytes_right(unsigned char *y) {
    y[threadIdx.x] |= 1;
}
// <<<1, 64>>>
extern "C" __global__ void reader_then_other_reader(float *y) {
    __shared__ float s;
    if (threadIdx.x == 0) s = 1.f;
    __syncthreads();
    y[threadIdx.x] = s;  // BUG race
    if (threadIdx.x == 63) s = 2.f;  // BUG race
}
__device__ float total;
// <<<1, 64>>>
extern "C" __global__ void device_variable(const float *x) {
    total += x[threadIdx.x];  // BUG race
}
// <<<1, 64>>>
extern "C" __global__ void device_variable_right(const float *x) {
    atomicAdd(&total, x[threadIdx.x]);
}
