# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Where installed files look for one another. Only functions of GNUInstallDirs' variables, so that a script can test them.

# The path of libdir as the RUNPATH of installed programs: empty where the loader looks anyway or there is nothing to load.
function(mercer_install_rpath result)
  file(RELATIVE_PATH path ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set(path "$ORIGIN/${path}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}")
    set(path ${CMAKE_INSTALL_FULL_LIBDIR})
  endif()
  if(NOT MERCER_BUILD_SHARED
     OR CMAKE_INSTALL_FULL_LIBDIR MATCHES "^/(usr/)?lib(32|64)?(/${CMAKE_LIBRARY_ARCHITECTURE})?/?$")
    set(path "")
  endif()
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

# mercer_pc_prefix, _libdir, _includedir and _datadir, as mercer.pc says them: from where that file lies, so that a tree that was moved,
# or installed elsewhere than it was configured for, is found. Absolute directories stay so, and under /usr all are written
# out: compilers and pkg-config know the system's own directories by these names and pass over them.
function(mercer_pc_directories)
  set(prefix "${CMAKE_INSTALL_PREFIX}")
  set(libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
  if(NOT prefix MATCHES "^(/usr)?/?$" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}"
     AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    file(RELATIVE_PATH to_prefix ${libdir}/pkgconfig ${prefix})
    string(REGEX REPLACE "/$" "" to_prefix ${to_prefix})
    file(RELATIVE_PATH to_includedir ${libdir}/pkgconfig ${includedir})
    set(libdir "\${pcfiledir}/..")
    set(includedir "\${pcfiledir}/${to_includedir}")
    set(prefix "\${pcfiledir}/${to_prefix}")
  endif()
  set(datadir "${CMAKE_INSTALL_DATADIR}")
  if(NOT IS_ABSOLUTE "${datadir}")
    set(datadir "\${prefix}/${datadir}")
  endif()
  foreach(name prefix libdir includedir datadir)
    set(mercer_pc_${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()
