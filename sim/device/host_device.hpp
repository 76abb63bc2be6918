// One macro: functions marked with it compile for the host and, under nvcc, for the device too.
#pragma once

#if defined(__CUDACC__)
#define DRAFTPROOF_DEVICE __host__ __device__
#else
#define DRAFTPROOF_DEVICE
#endif
