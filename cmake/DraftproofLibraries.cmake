# The framework and the command line.

set(schemes_a_source 16)
if(NOT DRAFTPROOF_LARGE_SOURCES)
  set(schemes_a_source 3)
endif()
set(found_sources "")
set(found_calls "")
draftproof_found(found_sources found_calls KIND drafter NAMESPACE draftproof::drafters DIRECTORY sim/drafters
                 REGISTRAR draftproof/properties/prover/register_verifier.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND verifier NAMESPACE draftproof::verifiers DIRECTORY verifiers
                 REGISTRAR draftproof/properties/prover/register_verifier.hpp BATCH ${schemes_a_source})
draftproof_found(found_sources found_calls KIND lossy NAMESPACE draftproof::verifiers::lossy DIRECTORY verifiers/lossy
                 REGISTRAR draftproof/properties/prover/register_verifier.hpp BATCH 6)
draftproof_found(found_sources found_calls KIND mutant NAMESPACE draftproof::mutants DIRECTORY verifiers/mutants
                 REGISTRAR draftproof/properties/prover/register_verifier.hpp BATCH 26)
draftproof_found(found_sources found_calls KIND wrong_drafter NAMESPACE draftproof::mutants::drafters
                 DIRECTORY verifiers/mutants/drafters REGISTRAR draftproof/properties/prover/register_verifier.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND wrong_tree_drafter NAMESPACE draftproof::mutants::tree_drafters
                 DIRECTORY verifiers/mutants/drafters/trees REGISTRAR draftproof/properties/prover/register_verifier.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND tree_drafter NAMESPACE draftproof::tree_drafters
                 DIRECTORY sim/drafters/trees REGISTRAR draftproof/properties/prover/register_verifier.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND path_verifier NAMESPACE draftproof::verifiers::paths
                 DIRECTORY verifiers/paths REGISTRAR draftproof/properties/prover/register_verifier.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND path_lossy NAMESPACE draftproof::verifiers::lossy::paths
                 DIRECTORY verifiers/lossy/paths REGISTRAR draftproof/properties/prover/register_verifier.hpp BATCH 6)
draftproof_found(found_sources found_calls KIND path_mutant NAMESPACE draftproof::mutants::paths
                 DIRECTORY verifiers/mutants/paths REGISTRAR draftproof/properties/prover/register_verifier.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND optimum NAMESPACE draftproof::optima DIRECTORY optimum/distributions
                 REGISTRAR draftproof/optimum/sampling_optimum.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND generator NAMESPACE draftproof::generators
                 DIRECTORY properties/instances/families REGISTRAR draftproof/properties/prover/register_property.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND property NAMESPACE draftproof::checks DIRECTORY properties/checks
                 REGISTRAR draftproof/properties/prover/register_property.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND path_property NAMESPACE draftproof::checks::paths
                 DIRECTORY properties/paths/checks REGISTRAR draftproof/properties/prover/register_property.hpp
                 TOGETHER)
draftproof_found(found_sources found_calls KIND joint_distribution NAMESPACE draftproof::joint_distributions
                 DIRECTORY properties/simulation/joint_distributions REGISTRAR draftproof/properties/simulation/joint_distribution.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND family NAMESPACE draftproof::families DIRECTORY captures/families
                 REGISTRAR draftproof/captures/family.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND writer NAMESPACE draftproof::writers DIRECTORY cli/report/writers
                 REGISTRAR draftproof/cli/report/registration.hpp TOGETHER)
draftproof_found(found_sources found_calls KIND figure NAMESPACE draftproof::figures DIRECTORY cli/report/figures
                 REGISTRAR draftproof/cli/report/registration.hpp TOGETHER)
# Components around a verifier, by group: correct components, wrong components, and the checks of both.
foreach(group batch counter target sampler selection grammar)
  set(registrar draftproof/properties/components/${group}/${group}_group.hpp)
  draftproof_found(found_sources found_calls KIND ${group}_component NAMESPACE draftproof::components::${group}
                   DIRECTORY sim/components/${group} REGISTRAR ${registrar} TOGETHER)
  draftproof_found(found_sources found_calls KIND ${group}_mutant NAMESPACE draftproof::mutants::components::${group}
                   DIRECTORY verifiers/mutants/components/${group} REGISTRAR ${registrar} TOGETHER)
  draftproof_found(found_sources found_calls KIND ${group}_check NAMESPACE draftproof::checks::${group}
                   DIRECTORY properties/components/${group}/checks REGISTRAR ${registrar} TOGETHER)
endforeach()
draftproof_write_calls(${PROJECT_BINARY_DIR}/found/everything.cpp everything "${found_calls}")

file(GLOB_RECURSE framework_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/optimum/*.cpp
     ${PROJECT_SOURCE_DIR}/captures/*.cpp ${PROJECT_SOURCE_DIR}/properties/*.cpp
     ${PROJECT_SOURCE_DIR}/cli/report/*.cpp ${PROJECT_SOURCE_DIR}/adapters/*.cpp)
# A run spends most of its time in verifiers, so sources of verifiers and lossy schemes are fully optimised. Full
# optimisation of other code, and of mutants, which run on small models, would take a third of the build's time and save
# little.
set(scheme_sources ${found_sources})
list(FILTER scheme_sources INCLUDE REGEX "/(path_)?(verifier|lossy)_")
set(mutant_sources ${found_sources})
list(FILTER mutant_sources INCLUDE REGEX "/(path_)?mutant_")
list(REMOVE_ITEM found_sources ${scheme_sources} ${mutant_sources})
add_library(draftproof_schemes OBJECT ${scheme_sources})
add_library(draftproof_mutants OBJECT ${mutant_sources})
add_library(draftproof_framework STATIC ${framework_sources} ${found_sources} $<TARGET_OBJECTS:draftproof_schemes>
                                        $<TARGET_OBJECTS:draftproof_mutants> ${PROJECT_BINARY_DIR}/found/everything.cpp)
add_library(draftproof::framework ALIAS draftproof_framework)
set_target_properties(draftproof_framework PROPERTIES EXPORT_NAME framework)
foreach(target draftproof_schemes draftproof_mutants draftproof_framework)
  target_link_libraries(${target} PUBLIC draftproof::sim Boost::headers fmt::fmt nlohmann_json::nlohmann_json
                                         OpenMP::OpenMP_CXX Threads::Threads)
  draftproof_own_target(${target})
endforeach()
# The headers that most sources include, mainly multiprecision and the interpreters, take seconds per source. They are
# precompiled once for each degree of optimisation.
foreach(target draftproof_schemes draftproof_mutants)
  target_precompile_headers(${target} PRIVATE <fmt/format.h> <nlohmann/json.hpp>
                            <draftproof/properties/subjects/any_verifier.hpp> <algorithm> <functional> <map> <memory> <string>
                            <vector>)
  # After a checkout has changed the time of a header, g++ does not recognise it as the header in a cached precompiled
  # header, and reports a redefinition. So targets that make precompiled headers are compiled without the cache.
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
endforeach()
target_precompile_headers(draftproof_framework REUSE_FROM draftproof_mutants)
target_link_libraries(draftproof_framework PRIVATE PkgConfig::libzip PkgConfig::clp rapidcheck ${CMAKE_DL_LIBS})
foreach(target draftproof_mutants draftproof_framework)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endforeach()
# Sources of a folder, mainly schemes, instantiate the same templates, so one large source takes half the time of many.
if(DRAFTPROOF_LARGE_SOURCES)
  set_target_properties(draftproof_framework PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 60)
  set_target_properties(draftproof_schemes draftproof_mutants PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
else()
  set_target_properties(draftproof_framework PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 15)
endif()

set(command_sources "")
set(command_calls "")
draftproof_found(command_sources command_calls KIND command NAMESPACE draftproof::commands DIRECTORY cli/commands
                 REGISTRAR draftproof/cli/register_command.hpp TOGETHER)
draftproof_write_calls(${PROJECT_BINARY_DIR}/found/commands_all.cpp commands "${command_calls}")
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
add_library(draftproof_cli STATIC ${cli_sources} ${command_sources} ${PROJECT_BINARY_DIR}/found/commands_all.cpp)
add_library(draftproof::cli ALIAS draftproof_cli)
set_target_properties(draftproof_cli PROPERTIES EXPORT_NAME cli)
target_link_libraries(draftproof_cli PUBLIC draftproof::framework PRIVATE CLI11::CLI11)
target_compile_definitions(draftproof_cli PRIVATE DRAFTPROOF_VERSION="${PROJECT_VERSION}")
draftproof_own_target(draftproof_cli)
draftproof_glue(draftproof_cli)
if(MPI_CXX_FOUND)
  target_link_libraries(draftproof_cli PRIVATE MPI::MPI_CXX)
  target_compile_definitions(draftproof_cli PRIVATE DRAFTPROOF_WITH_MPI OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/cli/ranks.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
# main.cpp is a separate object of the archive, so that a program with its own main does not link it.
set_source_files_properties(${PROJECT_SOURCE_DIR}/cli/main.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                            SKIP_PRECOMPILE_HEADERS ON)

# Studies of published figures and their command. A target that links draftproof::studies and draftproof::cli has
# `reproduce`.
if(DRAFTPROOF_BUILD_STUDIES)
  set(study_sources "")
  set(study_calls "")
  draftproof_found(study_sources study_calls KIND study NAMESPACE draftproof::studies DIRECTORY bench/studies/figures
                   REGISTRAR draftproof/bench/studies/study.hpp BATCH 8)
  draftproof_found(study_sources study_calls KIND command NAMESPACE draftproof::commands DIRECTORY bench/studies/commands
                   REGISTRAR draftproof/cli/register_command.hpp TOGETHER)
  draftproof_write_calls(${PROJECT_BINARY_DIR}/found/studies_all.cpp studies "${study_calls}")
  file(GLOB studies_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/studies/*.cpp)
  add_library(draftproof_studies STATIC ${studies_sources} ${study_sources} ${PROJECT_BINARY_DIR}/found/studies_all.cpp)
  add_library(draftproof::studies ALIAS draftproof_studies)
  set_target_properties(draftproof_studies PROPERTIES EXPORT_NAME studies)
  target_link_libraries(draftproof_studies PUBLIC draftproof::cli PRIVATE CLI11::CLI11)
  # The linker takes an object from an archive only if something refers to it (bench/studies/registration.cpp).
  target_link_options(draftproof_studies INTERFACE "LINKER:-u,draftproof_with_studies")
  draftproof_own_target(draftproof_studies)
  draftproof_glue(draftproof_studies)
endif()

# The linker takes main from the archive draftproof_cli. The generated source is empty; CMake requires one per target.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/found/program.cpp CONTENT "// main comes from the library.\n")
add_executable(draftproof ${PROJECT_BINARY_DIR}/found/program.cpp)
add_executable(draftproof::draftproof ALIAS draftproof)
target_link_libraries(draftproof PRIVATE draftproof::cli $<TARGET_NAME_IF_EXISTS:draftproof_studies>)
draftproof_own_target(draftproof)

if(TARGET draftproof_gpu)
  include(DraftproofCudaTrials)
  target_link_libraries(draftproof PRIVATE draftproof::cuda_trials)
endif()
if(DRAFTPROOF_BUILD_BENCH)
  include(DraftproofBench)
  target_link_libraries(draftproof PRIVATE draftproof::bench)
endif()
