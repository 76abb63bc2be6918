# Warnings, sanitizers and floating-point rules of our own targets; nobody else's.

function(draftproof_own_target target)
  target_compile_options(
    ${target}
    PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Werror>)
  if(DRAFTPROOF_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${DRAFTPROOF_SANITIZE}
                                             -fno-omit-frame-pointer -fno-sanitize-recover=all>)
    target_link_options(${target} PUBLIC -fsanitize=${DRAFTPROOF_SANITIZE})
  endif()
endfunction()
