# Fuzz targets of the readers, by libFuzzer under the sanitizers: every tests/fuzz/NAME_fuzz.cpp becomes fuzz_NAME. Only
# folders with readers are compiled; `./dev fuzz` runs the targets.

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "draftproof: DRAFTPROOF_FUZZ wants clang with libFuzzer, found ${CMAKE_CXX_COMPILER_ID}")
endif()

file(GLOB_RECURSE fuzzed_sources CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/captures/*.cpp ${PROJECT_SOURCE_DIR}/optimum/exact/*.cpp
     ${PROJECT_SOURCE_DIR}/properties/statistics/*.cpp ${PROJECT_SOURCE_DIR}/properties/instances/*.cpp
     ${PROJECT_SOURCE_DIR}/properties/components/*_case.cpp ${PROJECT_SOURCE_DIR}/properties/components/*_group.cpp
     ${PROJECT_SOURCE_DIR}/properties/components/*_expression.cpp
     ${PROJECT_SOURCE_DIR}/adapters/wire/*.cpp
     ${PROJECT_SOURCE_DIR}/adapters/declaration.cpp ${PROJECT_SOURCE_DIR}/cli/report/*.cpp)
set(figure_sources "")
set(figure_calls "")
draftproof_found(figure_sources figure_calls KIND figure NAMESPACE draftproof::figures DIRECTORY cli/report/figures
                 REGISTRAR draftproof/cli/report/registration.hpp TOGETHER)
draftproof_write_calls(${PROJECT_BINARY_DIR}/found/figures_all.cpp figures "${figure_calls}")

set(fuzz_flags -O1 -UNDEBUG -gline-tables-only -ffunction-sections -fdata-sections -fno-omit-frame-pointer -fno-sanitize-recover=all)
add_library(draftproof_fuzzed STATIC EXCLUDE_FROM_ALL ${fuzzed_sources} ${figure_sources}
                                                      ${PROJECT_BINARY_DIR}/found/figures_all.cpp)
target_link_libraries(draftproof_fuzzed PUBLIC draftproof::sim Boost::headers fmt::fmt nlohmann_json::nlohmann_json
                                               Threads::Threads PkgConfig::libzip)
target_compile_options(draftproof_fuzzed PUBLIC ${fuzz_flags} -fsanitize=fuzzer-no-link,address,undefined)
set_target_properties(draftproof_fuzzed PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)

add_custom_target(fuzz)
file(GLOB targets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp)
foreach(source ${targets})
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${name})
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(fuzz_${name} PRIVATE draftproof_fuzzed)
  # Functions that no reader calls may use folders that are not compiled here; --gc-sections removes these functions.
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined -fuse-ld=lld -Wl,--gc-sections)
  add_dependencies(fuzz fuzz_${name})
endforeach()
