# The kernels of all verifiers and mutants, in the library draftproof::gpu.
# Without nvcc the rest of the tree builds as it is. Registers and spills: -DCMAKE_CUDA_FLAGS=-Xptxas=-v.
include(CheckLanguage)

if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  # An nvcc that is not on the PATH: through CUDA_PATH or where the toolkit installs itself.
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_NVCC_EXECUTABLE)
    set(ENV{CUDACXX} ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
endif()
if(NOT CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX})
  set(ENV{CUDAHOSTCXX} ${CMAKE_CXX_COMPILER})
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES ${DRAFTPROOF_CUDA_ARCHITECTURES})
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "draftproof: CUDA not found: GPU kernels are not built and their parity tests are skipped")
  return()
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  # CMake 3.25 knows nvcc up to C++17.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_EXTENSIONS OFF)
message(STATUS "draftproof: GPU kernels for compute capability ${CMAKE_CUDA_ARCHITECTURES} with nvcc "
               "${CMAKE_CUDA_COMPILER_VERSION}")

# draftproof_kernels(<sources out> NAMESPACE draftproof::verifiers DIRECTORY verifiers)
#
# Several files to a source: what they have in common, twice per architecture, costs more than they do.
function(draftproof_kernels sources)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE;DIRECTORY" "")
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_DIRECTORY}/*.hpp)
  list(SORT files)
  while(files)
    list(SUBLIST files 0 6 batch)
    list(REMOVE_ITEM files ${batch})
    set(includes "")
    set(kernels "")
    foreach(file ${batch})
      get_filename_component(name ${file} NAME_WE)
      draftproof_type_name(type ${file})
      string(APPEND includes "#include <draftproof/${arg_DIRECTORY}/${name}.hpp>\n")
      string(APPEND kernels
        "template void draftproof::gpu::verify_batch(const ${arg_NAMESPACE}::${type}&,\n"
        "                                            const draftproof::gpu::Batch<float>&,\n"
        "                                            draftproof::gpu::Stream);\n")
    endforeach()
    list(GET batch 0 first)
    get_filename_component(name ${first} NAME_WE)
    set(output ${PROJECT_BINARY_DIR}/found/kernel_${arg_DIRECTORY}_${name}.cu)
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Generated.
@includes@#include <draftproof/gpu/verify_batch.cuh>

@kernels@")
    list(APPEND found_sources ${output})
  endwhile()
  set(${sources} ${${sources}} ${found_sources} PARENT_SCOPE)
endfunction()

set(kernel_sources "")
draftproof_kernels(kernel_sources NAMESPACE draftproof::verifiers DIRECTORY verifiers)
draftproof_kernels(kernel_sources NAMESPACE draftproof::mutants DIRECTORY mutants)
file(GLOB gpu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/gpu/*.cu)

add_library(draftproof_gpu STATIC ${gpu_sources} ${kernel_sources})
add_library(draftproof::gpu ALIAS draftproof_gpu)
set_target_properties(draftproof_gpu PROPERTIES EXPORT_NAME gpu)
target_link_libraries(draftproof_gpu PUBLIC draftproof::sim)
# No contraction of a * b + c on either side: host and device form the same terms.
set(cuda_options -fmad=false -Werror=all-warnings -Xcompiler=-ffp-contract=off,-Wall,-Wextra,-Wshadow,-Werror)
target_compile_options(draftproof_gpu PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_options}>")
