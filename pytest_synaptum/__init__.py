"""pytest-synaptum: record LLM exchanges once, replay them for ever, hold them to goldens."""
