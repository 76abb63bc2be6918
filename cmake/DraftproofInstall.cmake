# Installs headers, libraries, the program and the package that find_package(draftproof) reads.
include(CMakePackageConfigHelpers)

set(rooms sim verifiers optimum captures properties adapters cli bench/studies gpu)
foreach(room ${rooms})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/draftproof/${room}
          FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh" PATTERN "*.h")
endforeach()

set(installed draftproof_sim draftproof_framework draftproof_cli draftproof)
if(DRAFTPROOF_BUILD_STUDIES)
  list(APPEND installed draftproof_studies)
endif()
if(DRAFTPROOF_BUILD_BENCH)
  list(APPEND installed draftproof_bench_main)
endif()
if(TARGET draftproof_gpu)
  list(APPEND installed draftproof_gpu draftproof_cuda_trials)
endif()
install(TARGETS ${installed} EXPORT draftproofTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/draftproof)
install(EXPORT draftproofTargets NAMESPACE draftproof:: DESTINATION ${package_directory})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/draftproofConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/draftproofConfig.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/draftproofConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/draftproofConfig.cmake ${PROJECT_BINARY_DIR}/draftproofConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/DraftproofDependencies.cmake ${PROJECT_SOURCE_DIR}/cmake/DraftproofFound.cmake
              ${PROJECT_SOURCE_DIR}/cmake/DraftproofGates.cmake ${PROJECT_SOURCE_DIR}/cmake/DraftproofWriteGates.cmake
        DESTINATION ${package_directory})
