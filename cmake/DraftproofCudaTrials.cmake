# Devices that run trials in the host's place. Whoever links draftproof::devices beside draftproof::cli has
# `--device cuda`, with the kernels of draftproof::gpu and those of one's own (cuda_trials/own_trial_kernel.cuh).

file(GLOB device_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/devices/*.cpp)
set(trial_kernel_sources "")
set(trial_kernel_calls "")
draftproof_found(trial_kernel_sources trial_kernel_calls KIND trial_kernel NAMESPACE draftproof::verifiers
                 DIRECTORY verifiers REGISTRAR draftproof/cuda_trials/trial_kernels.hpp TOGETHER)
draftproof_write_calls(${PROJECT_BINARY_DIR}/found/trial_kernels_all.cpp trial_kernels "${trial_kernel_calls}")

add_library(draftproof_devices STATIC ${device_sources} ${trial_kernel_sources}
                                      ${PROJECT_BINARY_DIR}/found/trial_kernels_all.cpp)
add_library(draftproof::devices ALIAS draftproof_devices)
set_target_properties(draftproof_devices PROPERTIES EXPORT_NAME devices)
target_link_libraries(draftproof_devices PUBLIC draftproof::framework draftproof::gpu)
# An archive's object that only registers is left behind unless something wants it (cuda_trials/registration.cpp).
target_link_options(draftproof_devices INTERFACE "LINKER:-u,draftproof_with_devices")
draftproof_own_target(draftproof_devices)
