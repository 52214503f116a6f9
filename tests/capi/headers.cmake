# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Every public header compiles alone: the C ones as strict C99 and as C++, the C++ ones as strict C++17. Also: layers and symbols.
set(strict -pedantic -Wall -Wextra -Wconversion -Werror)

add_executable(mercer_c99 headers/umbrella.c)
set_target_properties(mercer_c99 PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
target_compile_options(mercer_c99 PRIVATE ${strict} -Wstrict-prototypes)
target_link_libraries(mercer_c99 PRIVATE mercer::mercer)
add_test(NAME header_c99 COMMAND mercer_c99)

file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/include/mercer/*.h ${PROJECT_SOURCE_DIR}/include/mercer/*.hpp)
foreach(header ${headers})
  string(MAKE_C_IDENTIFIER ${header} name)
  file(CONFIGURE OUTPUT header_${name}.cpp CONTENT "#include <${header}>\n#include <${header}>\n")
  list(APPEND alone_cpp ${CMAKE_CURRENT_BINARY_DIR}/header_${name}.cpp)
  if(header MATCHES "\\.h$")
    file(CONFIGURE OUTPUT header_${name}.c CONTENT "#include <${header}>\n#include <${header}>\n")
    list(APPEND alone_c ${CMAKE_CURRENT_BINARY_DIR}/header_${name}.c)
  endif()
endforeach()

# Compiled by the test, so that a header that fails is a failing test and not a failing build.
foreach(language c cpp)
  set(compiler ${CMAKE_CXX_COMPILER} -std=c++17)
  if(language STREQUAL "c")
    set(compiler ${CMAKE_C_COMPILER} -std=c99)
  endif()
  add_test(NAME headers_alone_${language} COMMAND
    ${compiler} ${strict} -fsyntax-only -I${PROJECT_SOURCE_DIR}/include ${alone_${language}})
endforeach()

add_test(NAME check_layers COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  -P ${PROJECT_SOURCE_DIR}/cmake/check_layers.cmake)
if(BUILD_SHARED_LIBS AND NOT MERCER_SANITIZE)
  add_test(NAME check_symbols COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:mercer>
    -DLIST=${PROJECT_SOURCE_DIR}/cmake/symbols.txt -P ${PROJECT_SOURCE_DIR}/cmake/check_symbols.cmake)
  add_executable(mercer_dlopen dlopen.c)
  set_target_properties(mercer_dlopen PROPERTIES C_STANDARD 99)
  target_link_libraries(mercer_dlopen PRIVATE ${CMAKE_DL_LIBS})
  add_test(NAME dlopen COMMAND mercer_dlopen $<TARGET_FILE:mercer>)
endif()
