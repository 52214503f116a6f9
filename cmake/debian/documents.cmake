# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Run by CPack once the files of every package are staged: what Debian's policy wants beside them.
file(READ ${CMAKE_CURRENT_LIST_DIR}/package/copyright copyright)
if(NOT CPACK_MERCER_WITH_FFTW)
  string(REGEX REPLACE " [.]\n The library is linked with FFTW.*OFF they are without it[.]\n" "" copyright "${copyright}")
endif()
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH where it is set
file(WRITE ${CPACK_TOPLEVEL_DIRECTORY}/changelog.Debian "mercer (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Packages of the upstream sources, made by CPack.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share)
  set(documents ${root}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  file(MAKE_DIRECTORY ${documents})
  file(WRITE ${documents}/copyright "${copyright}")
  file(COPY ${CPACK_TOPLEVEL_DIRECTORY}/changelog.Debian DESTINATION ${documents})
  file(GLOB pages ${root}/man/man*/*)
  file(GLOB changelogs ${root}/doc/*/CHANGELOG.md)  # of the project, in libmercer-dev
  if(changelogs)
    file(RENAME ${changelogs} ${documents}/changelog)
    list(APPEND pages ${documents}/changelog)
  endif()
  file(GLOB licences ${root}/doc/*/LICENSE)  # the copyright file says where it is
  if(licences)
    file(REMOVE ${licences})
  endif()
  file(CHMOD_RECURSE ${root}/doc FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
    DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  execute_process(COMMAND gzip -9n ${documents}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
