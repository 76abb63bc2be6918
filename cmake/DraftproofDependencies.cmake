# The libraries that the framework links, all packaged by Debian 12. If some are missing, one error lists them with
# their Debian packages.
set(draftproof_missing "")
set(draftproof_missing_packages "")

# draftproof_need(<Debian package> <library> [arguments of find_package]): finds a library, or notes that it is missing.
macro(draftproof_need debian_package library)
  find_package(${library} ${ARGN} QUIET)
  draftproof_need_found(${debian_package} ${library})
endmacro()

# draftproof_need_found(<Debian package> <library>): as draftproof_need, after a search that has set <library>_FOUND.
macro(draftproof_need_found debian_package library)
  if(NOT ${library}_FOUND)
    list(APPEND draftproof_missing ${library})
    list(APPEND draftproof_missing_packages ${debian_package})
  endif()
endmacro()

draftproof_need(libc6-dev Threads)
draftproof_need(g++ OpenMP COMPONENTS CXX)
draftproof_need(libboost-dev Boost 1.74)
draftproof_need(libfmt-dev fmt)
draftproof_need(nlohmann-json3-dev nlohmann_json)
draftproof_need(libcli11-dev CLI11)
# Uses pkg-config, because the CMake file of Debian's libzip-dev requires three command-line tools of other packages.
draftproof_need(pkg-config PkgConfig)
if(PkgConfig_FOUND)
  pkg_check_modules(libzip QUIET IMPORTED_TARGET libzip)
  pkg_check_modules(clp QUIET IMPORTED_TARGET clp)
endif()
draftproof_need_found(libzip-dev libzip)
draftproof_need_found(coinor-libclp-dev clp)
draftproof_need(librapidcheck-dev rapidcheck)
if(DRAFTPROOF_BUILD_BENCH)
  draftproof_need(libbenchmark-dev benchmark)
endif()

# MPI is optional (docs/scale.md).
find_package(MPI COMPONENTS CXX QUIET)
if(NOT MPI_CXX_FOUND AND NOT draftproof_FIND_QUIETLY)
  message(STATUS "draftproof: no MPI found (libopenmpi-dev), built without ranks; shards need none")
endif()

if(draftproof_missing)
  list(JOIN draftproof_missing ", " draftproof_missing)
  list(JOIN draftproof_missing_packages " " draftproof_missing_packages)
  set(draftproof_NOT_FOUND_MESSAGE "draftproof: not found: ${draftproof_missing}\n"
                                   "On Debian and Ubuntu: apt-get install ${draftproof_missing_packages}")
  if(NOT CMAKE_FIND_PACKAGE_NAME STREQUAL "draftproof")
    message(FATAL_ERROR ${draftproof_NOT_FOUND_MESSAGE})
  endif()
  list(JOIN draftproof_NOT_FOUND_MESSAGE "" draftproof_NOT_FOUND_MESSAGE)
endif()
