# The program inside the Python package. scikit-build-core configures with SKBUILD set (pyproject.toml).

# pip passes no number of jobs and ninja starts one a processor: no more than the memory holds, at 1.6 GB a compiler.
cmake_host_system_information(RESULT draftproof_jobs QUERY AVAILABLE_PHYSICAL_MEMORY)
math(EXPR draftproof_jobs "${draftproof_jobs} / 1600")
if(draftproof_jobs LESS 1)
  set(draftproof_jobs 1)
endif()
set_property(GLOBAL APPEND PROPERTY JOB_POOLS draftproof_memory=${draftproof_jobs})
set(CMAKE_JOB_POOL_COMPILE draftproof_memory)

# draftproof_install_into_package(): a wheel's platform folder holds the package, and the package holds the program.
function(draftproof_install_into_package)
  install(TARGETS draftproof RUNTIME DESTINATION draftproof/bin)
endfunction()
