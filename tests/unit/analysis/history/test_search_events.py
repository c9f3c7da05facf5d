"""What a watched search tells. Authority: the public search of the same values, and what was measured."""

from collections.abc import Mapping

from analysis import find_steps
from analysis.history.posterior import Posterior
from analysis.history.step_search import PairWord, Phase, watched_steps

from .test_step_search import made


class Heard:
    """A watcher that keeps all."""

    def __init__(self) -> None:
        self.phases: list[Phase] = []
        self.sessions: list[tuple[Phase, tuple[int, ...], Posterior | None]] = []
        self.words: list[tuple[Phase, PairWord]] = []
        self.out: list[int] = []

    def phase(self, phase: Phase) -> None:
        self.phases.append(phase)

    def session(
        self, places: tuple[int, ...], values: Mapping[int, float], posterior: Posterior | None
    ) -> None:
        assert set(values) <= set(places)
        self.sessions.append((self.phases[-1], places, posterior))

    def word(self, phase: Phase, word: PairWord) -> None:
        self.words.append((phase, word))

    def skipped(self, place: int) -> None:
        self.out.append(place)


def test_each_session_has_its_phase_and_each_look_its_word() -> None:
    heard = Heard()
    found = watched_steps(made(64, {20: 5, 45: 4}), 64, watcher=heard)
    assert [places for _, places, _ in heard.sessions] == list(found.measured)
    assert heard.phases[0] == Phase(kind="step0", lower=0, upper=64, level=0.05, places=(0, 64))
    assert [one.kind for one in heard.phases[:2]] == ["step0", "search"]
    for phase, places, posterior in heard.sessions:
        assert set(phase.places) <= set(places)
        if phase.kind == "search":
            assert posterior is not None
            assert (posterior.lower, posterior.upper) == (phase.lower, phase.upper)
            assert len(set(places) - set(phase.places)) == 1
        else:
            assert posterior is None
            assert places == phase.places
    proofs = [one for one in heard.phases if one.kind == "proof"]
    assert [one.number for one in proofs] == list(range(1, len(proofs) + 1))
    assert [one.level for one in proofs] == [0.05 * 2.0**-k for k in range(len(proofs))]
    last = {one.number: word for one, word in heard.words if one.kind == "proof"}
    for culprit in found.culprits:
        assert last[culprit.proof].speedup == culprit.speedup
        phase = proofs[culprit.proof - 1]
        assert (phase.lower, phase.upper) == (culprit.after, culprit.upto)


def test_a_watcher_changes_nothing_and_hears_of_each_skipped_place_once() -> None:
    fails = {33, 34, 35}
    heard = Heard()
    watched = watched_steps(made(64, {40: 5}, fails=fails), 64, watcher=heard)
    alone = find_steps(made(64, {40: 5}, fails=fails), 64)
    assert watched.to_dict() == alone.to_dict()
    assert sorted(heard.out) == list(alone.skipped)
    unbuilt = Heard()
    found = watched_steps(
        made(64, {40: 5}), 64, watcher=unbuilt, builds=lambda place: place not in (32, 48)
    )
    assert sorted(unbuilt.out) == list(found.skipped)
