# A project without a build type gets Release from the package; a build type that is set is kept. Arguments: EXAMPLE,
# INSTALLED, FOLDER, GENERATOR, COMPILER.
foreach(asked "" Debug)
  file(REMOVE_RECURSE ${FOLDER})
  set(type "")
  if(asked)
    set(type -DCMAKE_BUILD_TYPE=${asked})
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${EXAMPLE} -B ${FOLDER} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
                          -DCMAKE_PREFIX_PATH=${INSTALLED} ${type}
                  OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  set(wanted ${asked})
  if(NOT asked)
    set(wanted Release)
    if(NOT said MATCHES "draftproof: got no build type, took Release")
      message(FATAL_ERROR "the build type was taken without a word:\n${said}")
    endif()
  endif()
  load_cache(${FOLDER} READ_WITH_PREFIX found_ CMAKE_BUILD_TYPE)
  if(NOT found_CMAKE_BUILD_TYPE STREQUAL wanted)
    message(FATAL_ERROR "asked for '${asked}', got '${found_CMAKE_BUILD_TYPE}', expected ${wanted}")
  endif()
endforeach()
