# Which instances a gate asks depends on its seed; whether a right scheme passes must not. These seeds have accused right
# schemes: `spec_hub`, `k_seq` and recursive rejections, `greedy_drafts`, `tail_draw` and block rules.
foreach(seed 3 8 23)
  run(0 check --tier edge --seed ${seed})
endforeach()
