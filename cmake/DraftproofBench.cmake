# The benchmarks: groups, the command that runs them, and peers in Python. A target that links draftproof::bench and
# draftproof::cli has the command `bench`, which also times user-defined verifiers.

file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp ${PROJECT_SOURCE_DIR}/bench/results/*.cpp
     ${PROJECT_SOURCE_DIR}/bench/page/*.cpp ${PROJECT_SOURCE_DIR}/bench/peers/*.cpp)
set(benchmark_sources "")
set(benchmark_calls "")
draftproof_found(benchmark_sources benchmark_calls KIND benchmark NAMESPACE draftproof::benchmarks
                 DIRECTORY bench/groups REGISTRAR draftproof/bench/register_benchmark.hpp TOGETHER)
draftproof_write_calls(${PROJECT_BINARY_DIR}/found/benchmarks_all.cpp benchmarks "${benchmark_calls}")
# Registers the form of verifiers that benchmarks time, which runs on fresh rows of floats.
set(timed_sources "")
set(timed_calls "")
foreach(folder verifiers verifiers/lossy)
  string(REPLACE "/" "::" namespace draftproof/${folder})
  draftproof_found(timed_sources timed_calls KIND timed_verifier NAMESPACE ${namespace} DIRECTORY ${folder}
                   REGISTRAR draftproof/properties/subjects/timed_forms.hpp TOGETHER)
  draftproof_found(timed_sources timed_calls KIND timed_path_verifier NAMESPACE ${namespace}::paths
                   DIRECTORY ${folder}/paths REGISTRAR draftproof/properties/subjects/timed_forms.hpp TOGETHER)
endforeach()
draftproof_write_calls(${PROJECT_BINARY_DIR}/found/timed_all.cpp timed_forms "${timed_calls}")
set(bench_command_calls "")
draftproof_found(benchmark_sources bench_command_calls KIND command NAMESPACE draftproof::commands
                 DIRECTORY bench/commands REGISTRAR draftproof/cli/register_command.hpp TOGETHER)
draftproof_write_calls(${PROJECT_BINARY_DIR}/found/bench_commands_all.cpp bench_commands "${bench_command_calls}")

# Compiles the scripts of the peers into the program as strings, so that an installed program needs no script files.
function(draftproof_write_peers output)
  file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/peers/*.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${scripts})
  set(cases "")
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    file(READ ${script} text)
    string(APPEND cases "  if (name == \"${name}\") return R\"python(${text})python\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Generated: the scripts of bench/peers.
#include <string_view>

namespace draftproof::found {
std::string_view peer_script(std::string_view name);
std::string_view peer_script(std::string_view name) {
@cases@  return {};
}
}  // namespace draftproof::found
")
endfunction()
draftproof_write_peers(${PROJECT_BINARY_DIR}/found/peer_scripts.cpp)

add_library(draftproof_timed OBJECT ${timed_sources} ${PROJECT_BINARY_DIR}/found/timed_all.cpp)
target_link_libraries(draftproof_timed PRIVATE draftproof::framework)
draftproof_own_target(draftproof_timed)
target_precompile_headers(draftproof_timed REUSE_FROM draftproof_schemes)
set_target_properties(draftproof_timed PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)

add_library(draftproof_bench_main STATIC
            ${bench_sources} ${benchmark_sources} ${PROJECT_BINARY_DIR}/found/benchmarks_all.cpp
            $<TARGET_OBJECTS:draftproof_timed>
            ${PROJECT_BINARY_DIR}/found/bench_commands_all.cpp ${PROJECT_BINARY_DIR}/found/peer_scripts.cpp)
add_library(draftproof::bench ALIAS draftproof_bench_main)
set_target_properties(draftproof_bench_main PROPERTIES EXPORT_NAME bench)
target_link_libraries(draftproof_bench_main PUBLIC draftproof::cli benchmark::benchmark PRIVATE CLI11::CLI11)
# Google Benchmark's --benchmark_min_time needs a unit since 1.8, and rejects it before.
set(min_time_unit "")
if(benchmark_VERSION VERSION_GREATER_EQUAL 1.8)
  set(min_time_unit "s")
endif()
target_compile_definitions(draftproof_bench_main PRIVATE DRAFTPROOF_VERSION="${PROJECT_VERSION}"
                                                         DRAFTPROOF_MIN_TIME_UNIT="${min_time_unit}")
# The linker takes an object from an archive only if something refers to it (bench/registration.cpp).
target_link_options(draftproof_bench_main INTERFACE "LINKER:-u,draftproof_with_bench")
draftproof_own_target(draftproof_bench_main)
target_precompile_headers(draftproof_bench_main REUSE_FROM draftproof_schemes)
set_target_properties(draftproof_bench_main PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
set_source_files_properties(${benchmark_sources} ${PROJECT_BINARY_DIR}/found/benchmarks_all.cpp
                            ${PROJECT_BINARY_DIR}/found/bench_commands_all.cpp
                            ${PROJECT_BINARY_DIR}/found/peer_scripts.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
