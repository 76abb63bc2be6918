"""Selection policies of a child. Arguments: frames or lines, and a policy: before, token or short."""
import sys

import wire

form, policy = sys.argv[1:]
talk = wire.Frames() if form == "frames" else wire.Lines()
talk.send(wire.hello(version=[1, 4], name=policy, functions=["select"]))


def kept(request):
    flags = []
    for i in range(len(request["drafts"])):
        # A correct policy may read only the confidence before the draft: later confidence depends on the draft's token.
        keeps = request["confidence"][i if policy == "before" else i + 1] >= 0.5
        flags.append(int(keeps and all(flags)))
    return flags[:-1] if policy == "short" else flags


while True:
    request = talk.receive()
    if request is None or request["type"] == "bye":
        break
    talk.send({"type": "result", "id": request["id"], "kept": [kept(one) for one in request["requests"]]})
