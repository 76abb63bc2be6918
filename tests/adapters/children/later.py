"""A chain verifier that is wrong after a number of rows, counted over all calls: it then draws the token after a
rejected draft from p. Arguments: the number of correct rows; "ends" if it ends then instead."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "adapter"))
sys.dont_write_bytecode = True
from verifier_json import serve, verify  # noqa: E402
from wrong_verifier import verifier_with  # noqa: E402


def main(right, ends=False):
    wrong = verifier_with("residual_of_p")
    rows = 0

    def later(p, q, drafts, tape):
        nonlocal rows
        rows += 1
        if ends and rows > right:
            sys.exit(9)
        return (verify if rows <= right else wrong)(p, q, drafts, tape)

    serve(later, "later", randomness=["scripted", "seeded"], most_vocabulary=64)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:] == ["ends"])
