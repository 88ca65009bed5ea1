"""Requests of one run in turn: what was looked at once counts only while both stay as they were."""

from __future__ import annotations

import pytest

from pytest_synaptum.resume.requests import RequestComparer, Texts, stored_form, wire_form
from synaptum.vocabulary import History, Message, Request, Role, ToolCall


def request(*texts):
    return Request("m", History([Message.user(text) for text in texts]))


def grown(before, text):
    return Request("m", before.messages.append(Message.user(text)))


@pytest.mark.parametrize("form", [wire_form, stored_form])
def test_an_earlier_message_that_only_the_straight_run_rewrote_is_seen(form):
    comparer = RequestComparer(Texts(form))
    first, again = request("a", "b"), request("a", "b")

    assert comparer.are_same("run", first, again)
    assert not comparer.are_same("run", request("A", "b", "c"), grown(again, "c"))


@pytest.mark.parametrize("form", [wire_form, stored_form])
def test_an_earlier_message_that_only_the_resumed_run_rewrote_is_seen(form):
    comparer = RequestComparer(Texts(form))
    first, again = request("a", "b"), request("a", "b")

    assert comparer.are_same("run", first, again)
    assert not comparer.are_same("run", grown(first, "c"), request("A", "b", "c"))


def test_the_order_of_keys_in_an_earlier_message_counts_on_the_wire():
    def called(arguments):
        return Message(Role.ASSISTANT, (ToolCall("1", "read", arguments),))

    comparer = RequestComparer(Texts(wire_form))
    straight = Request("m", History([called({"a": 1, "b": 2})]))
    again = Request("m", History([called({"b": 2, "a": 1})]))

    assert comparer.are_same("run", straight, straight)
    assert not comparer.are_same("run", grown(straight, "c"), grown(again, "c"))
    assert RequestComparer(Texts(stored_form)).are_same("run", straight, again)


@pytest.mark.parametrize("form", [wire_form, stored_form])
def test_requests_that_grow_alike_are_the_same(form):
    comparer = RequestComparer(Texts(form))
    first, again = request("a", "b"), request("a", "b")

    assert comparer.are_same("run", first, again)
    assert comparer.are_same("run", grown(first, "c"), grown(again, "c"))
