"""A real experiment: ask for an intervention, carry it out, tell what came of it; a folder keeps it all."""

import tempfile

import numpy as np

from cb_pgm import Session

STATES = {"headline": ["plain", "question"], "picture": ["no", "yes"], "click": ["no", "yes"]}
rng = np.random.default_rng(1)

with tempfile.TemporaryDirectory() as folder:
    with Session.start(
        f"{folder}/session", states=STATES, reward="click=yes", horizon=400, seed=1
    ) as session:
        for _ in range(40):
            for pull in session.ask(batch=10):
                rows = []
                for _ in range(pull.left):
                    row = {name: str(rng.choice(STATES[name])) for name in ("headline", "picture")}
                    row |= dict(pull.intervention)
                    share = 0.5 if row["headline"] == "question" else 0.2
                    rows.append(row | {"click": "yes" if rng.random() < share else "no"})
                session.tell(rows, pull.number, again=True)
        status = session.status()
    print("recorded:", status.told, "- causes of a click:", status.reward_variables)
