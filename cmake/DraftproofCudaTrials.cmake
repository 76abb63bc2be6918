# Devices that run trials instead of the host. A target that links draftproof::cuda_trials and draftproof::cli has
# `--device cuda`, with the kernels of draftproof::gpu and user-defined kernels (gpu/trials/own_trial_kernel.cuh).

file(GLOB device_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/gpu/trials/*.cpp)
set(trial_kernel_sources "")
set(trial_kernel_calls "")
draftproof_found(trial_kernel_sources trial_kernel_calls KIND trial_kernel NAMESPACE draftproof::verifiers
                 DIRECTORY verifiers REGISTRAR draftproof/gpu/trials/trial_kernels.hpp TOGETHER)
draftproof_write_calls(${PROJECT_BINARY_DIR}/found/trial_kernels_all.cpp trial_kernels "${trial_kernel_calls}")

add_library(draftproof_cuda_trials STATIC ${device_sources} ${trial_kernel_sources}
                                      ${PROJECT_BINARY_DIR}/found/trial_kernels_all.cpp)
add_library(draftproof::cuda_trials ALIAS draftproof_cuda_trials)
set_target_properties(draftproof_cuda_trials PROPERTIES EXPORT_NAME cuda_trials)
target_link_libraries(draftproof_cuda_trials PUBLIC draftproof::framework draftproof::gpu)
# The linker takes an object from an archive only if something refers to it (gpu/trials/registration.cpp).
target_link_options(draftproof_cuda_trials INTERFACE "LINKER:-u,draftproof_with_cuda_trials")
draftproof_own_target(draftproof_cuda_trials)
