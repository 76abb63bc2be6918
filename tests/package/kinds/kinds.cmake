# Included by the project of the example: adds one file of each kind to its program.
function(add_kinds)
  set(folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set_target_properties(mine PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  foreach(kind_file "drafter one_draw_repeated" "verifier first_of_repeated" "path_verifier path_of_target" "tree_drafter paths_in_pairs"
                    "sampler_mutant coarse_sampler" "batch_component row_by_row" "batch_mutant slots_as_drafted" "selection_component first_drafts_alone"
                    "property drafts_are_named")
    string(REPLACE " " ";" both ${kind_file})
    list(GET both 0 kind)
    list(GET both 1 file)
    draftproof_add(mine KIND ${kind} NAMESPACE mine FILES ${folder}/${file}.hpp)
  endforeach()
endfunction()
cmake_language(DEFER CALL add_kinds)
