# Which instances a gate asks depends on its seed; whether a right scheme passes must not. Each of these seeds has
# accused one: a residual that rounding leaves empty, an accepted token with p = 0.
foreach(seed 8 21)
  run(0 check --tier edge --seed ${seed})
endforeach()
