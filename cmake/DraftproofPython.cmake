# Installs the program into the Python package. scikit-build-core configures with SKBUILD set (pyproject.toml).

# pip passes no number of jobs, so ninja starts one job per processor. The pool limits the jobs by memory, to 1.6 GB per
# job.
cmake_host_system_information(RESULT draftproof_jobs QUERY AVAILABLE_PHYSICAL_MEMORY)
math(EXPR draftproof_jobs "${draftproof_jobs} / 1600")
if(draftproof_jobs LESS 1)
  set(draftproof_jobs 1)
endif()
set_property(GLOBAL APPEND PROPERTY JOB_POOLS draftproof_memory=${draftproof_jobs})
set(CMAKE_JOB_POOL_COMPILE draftproof_memory)

# draftproof_install_into_package(): installs the program into the package draftproof of the wheel.
function(draftproof_install_into_package)
  install(TARGETS draftproof RUNTIME DESTINATION draftproof/bin)
endfunction()
