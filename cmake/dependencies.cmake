# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Everything the library links, each behind one including file (see README, "Licence").
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(hwy REQUIRED)
find_package(nlohmann_json REQUIRED)
find_path(MERCER_RANDOM123_INCLUDE Random123/philox.h REQUIRED)
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(lapacke REQUIRED IMPORTED_TARGET lapacke)
if(MERCER_WITH_FFTW)
  pkg_check_modules(fftw3 REQUIRED IMPORTED_TARGET fftw3)
  pkg_check_modules(fftw3f REQUIRED IMPORTED_TARGET fftw3f)
endif()
if(MERCER_THREADS STREQUAL "tbb")
  find_package(TBB REQUIRED)
elseif(NOT MERCER_THREADS STREQUAL "std")
  message(FATAL_ERROR "mercer: MERCER_THREADS=${MERCER_THREADS}, expected tbb or std")
endif()

# What a compiler of another language leaves out when it links C++.
set(mercer_cxx_runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM mercer_cxx_runtime ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})

# lapack_int of 64 bits would be called with 32-bit arguments.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::openblas)
check_c_source_compiles("
#include <openblas_config.h>
#ifdef OPENBLAS_USE64BITINT
#error ILP64
#endif
int main(void) { return 0; }" MERCER_BLAS_IS_LP64)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT MERCER_BLAS_IS_LP64)
  message(FATAL_ERROR "mercer: this OpenBLAS uses 64-bit integers (ILP64); the LP64 build is needed")
endif()
