# The library draftproof::gpu with the kernels of all verifiers and, with DRAFTPROOF_CUDA_MUTANTS, of mutants. Without
# nvcc the rest of the tree is built. `ctest -R gpu/resources` checks registers and spills.
include(CheckLanguage)

if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  # Finds an nvcc that is not on the PATH, by CUDA_PATH or in the toolkit's default folder.
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_NVCC_EXECUTABLE)
    set(ENV{CUDACXX} ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
endif()
if(NOT CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX})
  set(ENV{CUDAHOSTCXX} ${CMAKE_CXX_COMPILER})
endif()
execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader --id=0 OUTPUT_VARIABLE capability
                ERROR_QUIET RESULT_VARIABLE no_device)
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES ${DRAFTPROOF_CUDA_ARCHITECTURES})
  if(CMAKE_CUDA_ARCHITECTURES STREQUAL "here")
    # Compiling for one architecture takes half the time of compiling for three.
    set(CMAKE_CUDA_ARCHITECTURES 90)
    if(NOT no_device AND capability MATCHES "^([0-9]+)\\.([0-9]+)")
      set(CMAKE_CUDA_ARCHITECTURES ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
    endif()
  endif()
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "draftproof: CUDA not found: GPU kernels are not built and their parity tests are skipped")
  return()
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  # CMake 3.25 supports nvcc only up to C++17.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(cuda_architectures ${CMAKE_CUDA_ARCHITECTURES})
list(TRANSFORM cuda_architectures REPLACE "-(real|virtual)$" "")
foreach(architecture ${cuda_architectures})
  if(NOT architecture MATCHES "^[0-9]+$")
    message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES: got ${architecture}, expected numbers such as 80;90")
  endif()
endforeach()
# draftproof_kernels(<sources out> NAMESPACE draftproof::verifiers DIRECTORY verifiers PART plain|clusters|paths|trees)
#
# Puts several files into one source, because their common headers take longer to compile than the files.
function(draftproof_kernels sources)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE;DIRECTORY;PART" "")
  # Kernels of Batch<float> and of clusters serve all formats; instantiations for a StoredBatch only launch them.
  set(definition positions/verify_${arg_PART})
  if(arg_PART STREQUAL "clusters")
    set(calls "verify_clusters(const @&, const StoredBatch&, int, Stream)")
  elseif(arg_PART STREQUAL "paths")
    set(definition kernels/verify_steps)
    set(calls "verify_steps(const @&, const StepBatch<float>&, Stream, Mapping)")
  elseif(arg_PART STREQUAL "trees")
    set(definition kernels/verify_steps)
    set(calls "verify_steps(const NodeByNode<@>&, const StepBatch<float>&, Stream, Mapping)")
  else()
    set(calls "verify_batch(const @&, const Batch<float>&, Stream, Mapping)"
              "verify_batch(const @&, const StoredBatch&, Stream, const VerifyOptions&)")
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_DIRECTORY}/*.hpp)
  list(SORT files)
  string(REPLACE / _ directory ${arg_DIRECTORY})
  while(files)
    list(SUBLIST files 0 14 batch)
    list(REMOVE_ITEM files ${batch})
    draftproof_found_types(includes types ${arg_NAMESPACE} ${batch})
    set(kernels "")
    foreach(type ${types})
      foreach(call ${calls})
        string(REPLACE "@" ${type} call "${call}")
        string(APPEND kernels "template void draftproof::gpu::${call};\n")
      endforeach()
    endforeach()
    list(GET batch 0 first)
    get_filename_component(name ${first} NAME_WE)
    set(output ${PROJECT_BINARY_DIR}/found/${arg_PART}_${directory}_${name}.cu)
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Generated.
@includes@#include <draftproof/gpu/@definition@.cuh>

@kernels@")
    list(APPEND found_sources ${output})
  endwhile()
  set(${sources} ${${sources}} ${found_sources} PARENT_SCOPE)
endfunction()

# draftproof_trial_kernels(<sources out>): adds kernels of simulation, of every verifier on every draft sampling that it
# names.
#
# The source names all drafters; the compiler selects the drafters that a verifier supports (gpu/kernels/simulate.cuh).
function(draftproof_trial_kernels sources)
  file(GLOB drafters CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sim/drafters/*.hpp)
  list(SORT drafters)
  draftproof_found_types(drafter_includes drafter_types draftproof::drafters ${drafters})
  list(JOIN drafter_types ", " drafter_types)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/verifiers/*.hpp)
  list(SORT files)
  while(files)
    list(SUBLIST files 0 28 batch)
    list(REMOVE_ITEM files ${batch})
    draftproof_found_types(includes types draftproof::verifiers ${batch})
    set(kernels "")
    foreach(type ${types})
      string(APPEND kernels
        "template void draftproof::gpu::count_trials(const ${type}&, std::string_view,\n"
        "    const DeviceTable&, const TrialRange&, const DeviceCounts&, Stream);\n")
    endforeach()
    list(GET batch 0 first)
    get_filename_component(name ${first} NAME_WE)
    set(output ${PROJECT_BINARY_DIR}/found/trials_verifiers_${name}.cu)
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Generated.
@drafter_includes@@includes@#include <draftproof/gpu/kernels/simulate.cuh>

template <class V>
void draftproof::gpu::count_trials(const V& verifier, std::string_view distribution, const DeviceTable& table,
                                   const TrialRange& range, const DeviceCounts& counts, Stream stream) {
  TrialDrafters<@drafter_types@>::count(
      verifier, distribution, table, range, counts, stream);
}

@kernels@")
    list(APPEND found_sources ${output})
  endwhile()
  set(${sources} ${${sources}} ${found_sources} PARENT_SCOPE)
endfunction()

# draftproof_draft_kernels(<sources out>): adds the kernels of every drafter, in one source.
function(draftproof_draft_kernels sources)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sim/drafters/*.hpp)
  list(SORT files)
  draftproof_found_types(includes types draftproof::drafters ${files})
  set(kernels "")
  foreach(type ${types})
    string(APPEND kernels
      "template void draftproof::gpu::draft_batch(const ${type}&, const DraftBatch<float>&,\n"
      "    CUstream_st*, Mapping);\n")
  endforeach()
  set(output ${PROJECT_BINARY_DIR}/found/drafts.cu)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Generated.
@includes@#include <draftproof/gpu/kernels/draft_batch.cuh>

@kernels@")
  set(${sources} ${${sources}} ${output} PARENT_SCOPE)
endfunction()

# Without contraction of a * b + c, host and device compute the same terms. -Wno-restrict: g++ 12 warns falsely of
# overlapping copies in inlined concatenation (GCC bug 105651).
set(cuda_options -fmad=false -Werror=all-warnings -Xcompiler=-ffp-contract=off,-Wall,-Wextra,-Wshadow,-Werror,-Wno-restrict)

# draftproof_cuda_code(<target> <oldest>)
#
# Makes machine code for every selected architecture from <oldest> on. The compiler's front end, which takes most of the
# time, runs once, for the oldest selected architecture; its intermediate code (PTX) is included for later devices.
function(draftproof_cuda_code target oldest)
  set(wanted "")
  foreach(architecture ${cuda_architectures})
    if(NOT architecture LESS oldest)
      list(APPEND wanted ${architecture})
    endif()
  endforeach()
  list(SORT wanted COMPARE NATURAL)
  list(GET wanted 0 base)
  list(TRANSFORM wanted PREPEND sm_)
  list(JOIN wanted "," codes)
  # Position-independent, so that a shared library such as draftproof_kernels can link the target.
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES OFF POSITION_INDEPENDENT_CODE ON
                        CUDA_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/keep_ptxas.sh)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-gencode arch=compute_${base},code=[compute_${base},${codes}]>"
    "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_options};-Xptxas=-v>")
endfunction()

set(cluster_kernels FALSE)
foreach(architecture ${cuda_architectures})
  if(NOT architecture LESS 90)
    set(cluster_kernels TRUE)
  endif()
endforeach()

set(kernel_sources "")
draftproof_kernels(kernel_sources NAMESPACE draftproof::verifiers DIRECTORY verifiers PART plain)
if(DRAFTPROOF_CUDA STREQUAL "device" AND no_device)
  # Without a device nothing would run the kernels, which take a third of the build. tests/gpu still compiles one kernel
  # of every verifier.
  message(STATUS "draftproof: no CUDA device: GPU kernels are not built (./dev build device builds them), their tests "
                 "are skipped")
  draftproof_kernels(kernel_sources NAMESPACE draftproof::verifiers::paths DIRECTORY verifiers/paths PART paths)
  set(draftproof_translated_kernels ${kernel_sources})
  return()
endif()
message(STATUS "draftproof: GPU kernels for compute capability ${cuda_architectures} with nvcc "
               "${CMAKE_CUDA_COMPILER_VERSION}")
if(DRAFTPROOF_CUDA_MUTANTS)
  draftproof_kernels(kernel_sources NAMESPACE draftproof::mutants DIRECTORY verifiers/mutants PART plain)
  draftproof_kernels(kernel_sources NAMESPACE draftproof::verifiers::lossy DIRECTORY verifiers/lossy PART plain)
endif()
draftproof_kernels(kernel_sources NAMESPACE draftproof::verifiers::paths DIRECTORY verifiers/paths PART paths)
draftproof_kernels(kernel_sources NAMESPACE draftproof::verifiers DIRECTORY verifiers PART trees)
draftproof_trial_kernels(kernel_sources)
draftproof_draft_kernels(kernel_sources)
file(GLOB_RECURSE gpu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/gpu/*.cu ${PROJECT_SOURCE_DIR}/gpu/*.cpp)
list(FILTER gpu_sources EXCLUDE REGEX "/gpu/(trials|calls)/")
set(cluster_sources "")
draftproof_kernels(cluster_sources NAMESPACE draftproof::verifiers DIRECTORY verifiers PART clusters)
if(DRAFTPROOF_CUDA_MUTANTS)
  # Lossy schemes have every mapping, as verifiers do; mutants have only blocks.
  draftproof_kernels(cluster_sources NAMESPACE draftproof::verifiers::lossy DIRECTORY verifiers/lossy PART clusters)
endif()
# If no selected architecture has clusters, the launches of clusters are compiled for all architectures and never
# called.
set(cluster_oldest 0)
if(cluster_kernels)
  set(cluster_oldest 90)
endif()
add_library(draftproof_gpu_clusters OBJECT ${cluster_sources})
target_link_libraries(draftproof_gpu_clusters PUBLIC draftproof::sim)
draftproof_cuda_code(draftproof_gpu_clusters ${cluster_oldest})

add_library(draftproof_gpu STATIC ${gpu_sources} ${kernel_sources} $<TARGET_OBJECTS:draftproof_gpu_clusters>)
add_library(draftproof::gpu ALIAS draftproof_gpu)
set_target_properties(draftproof_gpu PROPERTIES EXPORT_NAME gpu)
target_link_libraries(draftproof_gpu PUBLIC draftproof::sim)
target_compile_definitions(draftproof_gpu PRIVATE DRAFTPROOF_CLUSTER_KERNELS=$<BOOL:${cluster_kernels}>)
draftproof_cuda_code(draftproof_gpu 0)

# The same kernels as C functions, in a shared library that exports nothing else; draftproof.torch loads it.
draftproof_found_header(kernel_verifiers NAMESPACE draftproof::verifiers DIRECTORY verifiers EXTENSION hpp
                        FUNCTION for_each_kernel_verifier)
add_library(draftproof_kernels SHARED ${PROJECT_SOURCE_DIR}/gpu/calls/verify_rows.cpp)
set_target_properties(draftproof_kernels PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                      VISIBILITY_INLINES_HIDDEN ON LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(draftproof_kernels PRIVATE draftproof::gpu)
target_link_options(draftproof_kernels PRIVATE LINKER:--exclude-libs=ALL LINKER:-z,defs)
target_include_directories(draftproof_kernels PRIVATE ${PROJECT_BINARY_DIR}/found/headers)

# Benchmarks on a device, which need only the CUDA toolkit.
draftproof_found_header(gpu_benchmarks NAMESPACE draftproof::gpu_bench DIRECTORY bench/gpu/groups EXTENSION cuh
                        FUNCTION for_each_group)
add_executable(draftproof_gpu_bench ${PROJECT_SOURCE_DIR}/bench/gpu/main.cu)
target_link_libraries(draftproof_gpu_bench PRIVATE draftproof::gpu)
target_include_directories(draftproof_gpu_bench PRIVATE ${PROJECT_BINARY_DIR}/found/headers)
draftproof_cuda_code(draftproof_gpu_bench ${cluster_oldest})
