# Calls with wrong arguments stop the configuration and say why; verifiers are not left out in silence. Arguments:
# INSTALLED, FOLDER, GENERATOR, COMPILER.
set(headers ${FOLDER}/headers)
foreach(name a/scheme.hpp b/scheme.hpp my-scheme.hpp y.hpp x_y.hpp)
  file(WRITE ${headers}/${name} "#pragma once\n")
endforeach()
set(add draftproof_add_verifiers)
set(scheme ${headers}/a/scheme.hpp)

function(configured languages call expected)
  file(REMOVE_RECURSE ${FOLDER}/build)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/arguments -B ${FOLDER}/build -G ${GENERATOR}
                          -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${INSTALLED} -DCMAKE_BUILD_TYPE=Release
                          -DLANGUAGES=${languages} "-DCALL=${call}"
                  OUTPUT_QUIET ERROR_VARIABLE said RESULT_VARIABLE code)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(expected STREQUAL "" AND NOT code EQUAL 0
     OR NOT expected STREQUAL "" AND (code EQUAL 0 OR NOT said MATCHES "${expected}"))
    message(FATAL_ERROR "${call}: got exit code ${code} and\n${said}\nexpected ${expected}")
  endif()
endfunction()

configured(CXX "${add}(mine NAMESPACE one ${scheme})" "got [^ ]*scheme.hpp, expected known arguments")
configured(CXX "${add}(mine NAMESPACE one FILE ${scheme})" "got FILE[^,]*, expected known arguments")
configured(CXX "${add}(mine MUTANT FILES ${scheme})" "got MUTANT, expected known arguments")
configured(CXX "${add}(mine NAMESPACE one FILES)" "got no FILES, expected headers")
configured(CXX "${add}(mine FILES ${headers}/my-scheme.hpp)"
           "my-scheme.hpp, expected a file name of letters, digits and _")
set(both "${add}(mine NAMESPACE one FILES ${scheme})\n${add}")
configured(CXX "${both}(mine NAMESPACE one FILES ${headers}/b/scheme.hpp)" "expected another NAMESPACE")
configured(CXX "${both}(mine NAMESPACE two FILES ${headers}/b/scheme.hpp)" "")
set(other "${add}(mine NAMESPACE my_x FILES ${headers}/y.hpp)\n${add}")
configured(CXX "${other}(mine NAMESPACE my FILES ${headers}/x_y.hpp)" "")
file(GLOB_RECURSE made ${FOLDER}/build/draftproof_found/*.cpp)
list(LENGTH made count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "two verifiers of one file name have the sources ${made}, expected two")
endif()
configured(C "" "got a project without C.., expected project.draftproof_arguments LANGUAGES CXX")
