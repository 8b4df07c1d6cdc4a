"""The client that Microsoft published for Personalizer, unchanged, where it is installed.

`pip install azure-cognitiveservices-personalizer`; the routes themselves are tested in test_http.py.
"""

from typing import Any

import pytest

from tests.service.servers import PERSONALIZER, serving

TOKEN = "0123456789abcdef0123"
TOML = f"""
[tokens.client]
scopes = ["decide", "observe", "read"]
token = "{TOKEN}"
{PERSONALIZER}"""


def test_an_unchanged_client_works() -> None:
    models: Any = pytest.importorskip("azure.cognitiveservices.personalizer.models")
    from azure.cognitiveservices.personalizer import PersonalizerClient  # type: ignore[import-not-found,unused-ignore]
    from msrest.authentication import CognitiveServicesCredentials  # type: ignore[import-not-found,unused-ignore]

    with serving(TOML) as server:
        client = PersonalizerClient(server.url, CognitiveServicesCredentials(TOKEN))
        actions = [
            models.RankableAction(id="pasta", features=[{"taste": "salty"}, {"nutrition": {"calories": 500}}]),
            models.RankableAction(id="cake", features=[{"taste": "sweet"}]),
            models.RankableAction(id="soup", features=[{"taste": "spicy"}]),
        ]
        request = models.RankRequest(
            actions=actions,
            context_features=[{"time": "morning"}],
            excluded_actions=["soup"],
            event_id="event",
            defer_activation=True,
        )
        ranked = client.rank(rank_request=request)
        assert (ranked.event_id, ranked.ranking[0].id) == ("event", ranked.reward_action_id)
        assert sum(action.probability for action in ranked.ranking) == pytest.approx(1)
        client.events.activate(event_id="event")
        client.events.reward(event_id="event", value=0.7)
        found = server.get("/v1/personalizer/decisions/event", authorization=f"Bearer {TOKEN}").json()
        assert found["active"]
        assert [reward["reward"] for reward in found["rewards"]] == [0.7]
        twice = models.RankRequest(actions=[actions[0], actions[0]])
        with pytest.raises(models.ErrorResponseException, match="a name twice"):
            client.rank(rank_request=twice)
        stranger = PersonalizerClient(server.url, CognitiveServicesCredentials("wrong"))
        with pytest.raises(models.ErrorResponseException, match="expected a token"):
            stranger.rank(rank_request=request)
