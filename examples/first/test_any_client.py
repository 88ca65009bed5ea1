from openai import OpenAI


def test_any_client_is_recorded(recorded_http):
    client = OpenAI(base_url=recorded_http.base_url, api_key="unused")

    answer = client.chat.completions.create(
        model=recorded_http.model,
        messages=[{"role": "user", "content": "What is the capital of Spain?"}],
        temperature=0,
        max_tokens=12,
    )

    assert "Madrid" in answer.choices[0].message.content
    assert len(recorded_http.exchanges) == 1
