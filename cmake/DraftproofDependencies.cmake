# What the framework links beside the standard library; all of it packaged by Debian 12.
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Boost 1.74 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
# Through pkg-config: the CMake file of Debian's libzip-dev demands three command-line tools of other packages.
find_package(PkgConfig REQUIRED)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
find_package(rapidcheck REQUIRED)
if(DRAFTPROOF_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
