# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The reference of the headers as HTML in WORK, without the scripts that Doxygen has every page load and call.
# Run as: cmake -DDOXYGEN=... -DSOURCE_DIR=... [-DMADE=folder of headers that were made] -DWORK=... -P reference.cmake
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/Doxyfile "@INCLUDE = \"${SOURCE_DIR}/cmake/Doxyfile\"\nOUTPUT_DIRECTORY = \"${WORK}\"\n")
if(EXISTS ${MADE}/mercer)
  file(APPEND ${WORK}/Doxyfile "INPUT += \"${MADE}/mercer\"\nSTRIP_FROM_PATH += \"${MADE}\"\nSTRIP_FROM_INC_PATH += \"${MADE}\"\n")
endif()
execute_process(COMMAND ${DOXYGEN} ${WORK}/Doxyfile WORKING_DIRECTORY ${SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB scripts ${WORK}/html/*.js)
file(REMOVE ${scripts})
file(GLOB pages ${WORK}/html/*.html ${WORK}/html/doxygen.css)
foreach(page ${pages})
  file(READ ${page} text)
  # With what a click would have shown.
  string(REGEX REPLACE "<script[^>]*></script>\n?| (onclick|style)=\"(javascript:|toggle|display:none)[^\"]*\"|\n\\.inherit {[^}]*}" ""
    text "${text}")
  file(WRITE ${page} "${text}")
endforeach()
