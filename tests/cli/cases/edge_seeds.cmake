# Which instances a gate asks depends on its seed; whether a right scheme passes must not. These seeds have accused these
# schemes.
set(accused spec_hub k_seq k_seq_tree recursive_rejection recursive_rejection_wor recursive_rejection_tree
            recursive_rejection_wor_tree greedy_drafts tail_draw optimal_transport_tail_draw naive_tree block greedy_block)
foreach(seed 3 8 23)
  run(0 check ${accused} --tier edge --seed ${seed})
endforeach()
