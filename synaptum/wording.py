"""Every sentence that a model or a person reads at run time.

`Wording` is a frozen set of templates (`str.format` fields in braces) with two complete
instances: `ENGLISH`, the default, and `SPANISH`, the seeds' own texts. An `Agent` takes
`wording=`; it is part of the run's configuration. Wire names (`buscar_herramientas` ...)
stay as they are under either.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = [
    "ENGLISH",
    "SPANISH",
    "EconomyWording",
    "SurfaceWording",
    "Wording",
    "current_wording",
    "use_wording",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceWording:
    """What the surfaces say: commands, skills and scripts.

    Attributes:
        code_only: a tool for scripts was called directly; field `name`.
        script_stopped: the run ended while a script ran; field `name`.
        code_description: tells how to write a script; field `functions`, a line each.
        code_script: describes the one parameter.
        code_syntax, code_failed: a script that is no Python, or raised; field `error`.
        code_deadline: field `seconds`.
        code_lost: its process ended by itself; field `detail`.
        code_cut: stands where output was dropped; field `removed`, a count of characters.
        code_no_output: a script that printed nothing.
        code_unknown, code_positional, code_repeated, code_calls: what a script reads of a call
            that was not made; fields `name`, `functions`; `name`, `count`, `given`; `name`,
            `parameter`; `limit`.
        command_missing: the program is not there; field `program`.
        command_option: a value would be read as an option; field `value`.
        command_nul: an argument holds a NUL character.
        command_temporary: meaning of exit code 75.
        command_failed: an exit code; fields `code`, `meaning`, `detail`.
        command_unknown: meaning of a code that nobody described.
        command_not_started: the system refused to start it; fields `program`, `reason`.
        command_deadline: field `seconds`.
        command_output: more was written than may be; field `limit`, bytes.
        command_not_json: the output is no JSON; field `error`.
        skill_description, skill_name, skill_argument: the tool that gives a skill's text;
            `skill_description` has the field `skills`, a line each.
        skill_unknown: fields `name`, `skills`.
        file_description, file_path: the tool that gives a skill's files.
        file_missing, file_outside, file_unreadable: why a file is not given; fields `path`,
            `files` (the first alone).
    """

    code_only: str
    script_stopped: str
    code_description: str
    code_script: str
    code_syntax: str
    code_failed: str
    code_deadline: str
    code_lost: str
    code_cut: str
    code_no_output: str
    code_unknown: str
    code_positional: str
    code_repeated: str
    code_calls: str
    command_missing: str
    command_option: str
    command_nul: str
    command_temporary: str
    command_failed: str
    command_unknown: str
    command_not_started: str
    command_deadline: str
    command_output: str
    command_not_json: str
    skill_description: str
    skill_name: str
    skill_argument: str
    skill_unknown: str
    file_description: str
    file_path: str
    file_missing: str
    file_outside: str
    file_unreadable: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EconomyWording:
    """The economy report: its labels, and what stands beside them.

    Attributes:
        title: fields `run_id`, `turns`.
        one_turn, many_turns, one_time, many_times: counted words; field `count`.
        cache, growth, prefix, total: labels.
        cache_served: field `ratio`, 0.0 to 1.0.
        growth_tokens: field `tokens`, a turn.
        growth_too_short: stands for the growth of fewer than two turns.
        prefix_rewritten: field `times`.
        counts: fields `input`, `output`, `cached`.
        not_measured: stands for what nobody measured; never 0.
        causes: what broke a prefix, by `synaptum.context.prefix.Cause.code`.
    """

    title: str
    one_turn: str
    many_turns: str
    cache: str
    cache_served: str
    growth: str
    growth_tokens: str
    growth_too_short: str
    prefix: str
    prefix_stable: str
    prefix_rewritten: str
    one_time: str
    many_times: str
    total: str
    counts: str
    not_measured: str
    causes: Mapping[str, str]

    def turns(self, count: int) -> str:
        """Such as "1 turn" or "2 turns"."""
        return (self.one_turn if count == 1 else self.many_turns).format(count=count)

    def times(self, count: int) -> str:
        """Such as "once" or "2 times"."""
        return (self.one_time if count == 1 else self.many_times).format(count=count)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Wording:
    """The sentences, by what they are for.

    Attributes:
        name: how a configuration names this wording; one with other sentences takes another
            name, so that a run is not resumed in other words.
        truncated: notice inside a capped tool result; fields `removed`, `total` (texts
            already grouped by thousands).
        thousands: what stands between groups of three digits.
        problems: what is wrong with a JSON value, by the code of the problem; field `path`
            and the facts of that code. Types keep their JSON Schema words.
        encodings: what of a returned value JSON has no form for, by `EncodingError.code`; the
            facts of that code.
        tool_arguments: a problem of a call's arguments; fields `name`, `problem`.
        tool_value_refused: what to do after a value was refused.
        mcp_lost: an MCP server ended during a call; `detail` is what it last wrote, or "".
        mcp_timeout: an MCP server did not answer; field `seconds`.
        mcp_wants_input: an MCP server asks a person for something.
        mcp_unusable: an MCP server's answer breaks its own schema or the protocol; `detail`.
        mcp_unsendable: the arguments hold half of a surrogate pair, which UTF-8 has no form for.
        mcp_no_detail: an MCP server reports an error without a word.
        search_description, search_query: the tool that searches a deferred catalogue.
        dispatch_description, dispatch_name, dispatch_arguments: the tool that calls from it.
        search_found_none: a search without a match; field `names`.
        tool_returned_unusable: a tool returned what has no JSON form; fields `name`, `type`.
        ask_again: what the model is told after a turn that showed nothing.
        output_instructions: asks for an object; field `schema`.
        output_invalid: an answer that is no such object; field `error`.
        unreadable_arguments: a call whose arguments are no JSON object; field `name`.
        unknown_tool: a call of a tool that does not exist; fields `name`, `tools`.
        invalid_call: arguments that do not fit; fields `name`, `error`, `schema`.
        denied_call: the policy refused a call; fields `name`, `reason`.
        refused_call: a person refused a call; fields `name`, `reason`.
        no_reason: stands for a reason nobody gave.
        tool_failed, tool_failed_for_now: a tool's failure that repeating cannot, or can,
            mend; fields `name`, `error`.
        tool_cancelled: what a tool waited for was cancelled.
        delegate_brief: describes the one parameter of a sub-agent.
        delegate_failed: a sub-agent ended in an error; fields `name`, `error`.
        delegate_unfinished: a sub-agent closed without an answer; fields `name`, `reason`,
            `output`.
        delegates_too_deep: sub-agents nest deeper than they may; fields `run_id`, `depth`, `value`.
        limit_exceeded: fields `run_id`, `limit`, `value`.
        uncertain_effect: fields `run_id`, `step_id`, `name`.
        no_object: no answer fitted; fields `samples`, `path` (never the answer's own words).
        no_object_cut, no_object_filtered, no_object_refused: the answer was cut, withheld, or
            is a refusal.
        unknown_to_gateway: tools the gateway cannot run; field `tools`.
        other_configuration: fields `run_id`, `changes`.
        other_task: field `run_id`.
        other_requests: the code builds other requests than those on record; fields `run_id`,
            `step_id`.
        changed_from_to, changed: one difference of configuration; fields `what`, `before`,
            `after` (the first alone).
        part_model, part_instructions, part_tools, part_output: what of a configuration differs.
        part_sampling, part_max_tool_chars, part_wording: the same.
        economy: the economy report.
        surfaces: what commands, skills and scripts say.
    """

    name: str
    truncated: str
    thousands: str
    problems: Mapping[str, str]
    encodings: Mapping[str, str]
    tool_arguments: str
    tool_value_refused: str
    tool_returned_unusable: str
    mcp_lost: str
    mcp_timeout: str
    mcp_wants_input: str
    mcp_unusable: str
    mcp_no_detail: str
    mcp_unsendable: str
    search_description: str
    search_query: str
    search_found_none: str
    dispatch_description: str
    dispatch_name: str
    dispatch_arguments: str
    ask_again: str
    output_instructions: str
    output_invalid: str
    unreadable_arguments: str
    unknown_tool: str
    invalid_call: str
    denied_call: str
    refused_call: str
    no_reason: str
    tool_failed: str
    tool_failed_for_now: str
    tool_cancelled: str
    delegate_brief: str
    delegate_failed: str
    delegate_unfinished: str
    delegates_too_deep: str
    limit_exceeded: str
    uncertain_effect: str
    no_object: str
    no_object_cut: str
    no_object_filtered: str
    no_object_refused: str
    unknown_to_gateway: str
    other_configuration: str
    other_task: str
    other_requests: str
    changed_from_to: str
    changed: str
    part_model: str
    part_instructions: str
    part_tools: str
    part_output: str
    part_sampling: str
    part_max_tool_chars: str
    part_wording: str
    economy: EconomyWording
    surfaces: SurfaceWording

    def __repr__(self) -> str:
        # By name: it is a default, and would fill every signature with all its sentences.
        return f"<Wording {self.name!r}>"


ENGLISH = Wording(
    name="english",
    truncated=(
        "[… truncated: {removed} of {total} characters. Ask for a specific range if you need"
        " what is missing …]"
    ),
    thousands=",",
    problems={
        "expected": "At {path}: expected {expected}, found {found}.",
        "missing": "At {path}: {names} is required and missing.",
        "unknown": "At {path}: there is no {names}; the names are: {allowed}.",
        "not_among": "At {path}: {value} is none of {choices}.",
        "length": "At {path}: expected {wanted} items, found {found}.",
        "not_unique": "At {path}: an item stands there twice, and each may stand once.",
        "too_large": "At {path}: {value} has more digits than a number can keep exactly.",
        "too_deep": "At {path}: nested deeper than {limit} levels.",
        "format": "At {path}: {value} is no valid {format}; write it as {example}.",
        "limit": "At {path}: the rule is {rule}, found {found}.",
        "no_alternative": "At {path}: the value fits none of the forms allowed there.",
        "forbidden": "At {path}: such a value is not allowed there.",
        "refused": "At {path}: {reason}.",
        "not_json": "The answer is not one JSON value: {reason}",
    },
    encodings={
        "too_deep": "The value is nested deeper than {limit} levels at {path}.",
        "key": "The key {key} at {path} is a {type}; JSON names are strings.",
        "number": "The number at {path} is {value}, which JSON has no form for.",
        "digits": "A number has more digits than can be written down.",
        "type": "The value at {path} is a {type}, which JSON has no form for.",
        "set": "The value at {path} is a set, which has no order: return a sorted list instead.",
        "model": "The {type} at {path} gives no JSON: {reason}",
        "value": "A {type} has no JSON form.",
        "halves": (
            "A text holds a surrogate pair as two separate code points, which JSON cannot give"
            " back."
        ),
    },
    tool_arguments="The arguments of {name} do not fit. {problem}",
    tool_value_refused="Nothing was run. Call it again with another value.",
    mcp_lost="the server has ended; its tools cannot be called any more.{detail}",
    mcp_timeout="the server did not answer within {seconds} seconds.",
    mcp_wants_input="the server asks for input from a person, which it does not get here.",
    mcp_unusable="the server's answer is not what it declares: {detail}",
    mcp_unsendable="a text in the arguments holds half a character (a lone surrogate): mend it.",
    mcp_no_detail="the server reports an error and says no more.",
    search_description="Finds tools by what they do: gives name, description and schema.",
    search_query="What you want to do, in a few words.",
    search_found_none="No tool matches. The names are: {names}.",
    dispatch_description="Calls a tool that a search found.",
    dispatch_name="The name of the tool.",
    dispatch_arguments="Its arguments, as its schema says.",
    tool_returned_unusable=(
        "The tool {name} ran, but returned a {type}, which cannot be shown to you. Calling it"
        " again will not help; go on without its result and say so."
    ),
    ask_again="Your last turn held no answer. Answer now, or call a tool.",
    output_instructions=(
        "Answer with one JSON object that fits this JSON Schema, and with nothing else:\n{schema}"
    ),
    output_invalid=(
        "Your answer does not fit the schema: {error} Answer again with the JSON object alone."
    ),
    unreadable_arguments=(
        "{name} was not run: the arguments are not a JSON object. Call it again with valid JSON."
    ),
    unknown_tool="There is no tool {name}. The tools are: {tools}.",
    invalid_call=(
        "{name} was not run: {error} Call it again with arguments that fit this JSON Schema:"
        " {schema}"
    ),
    denied_call="{name} was not run: the policy does not allow it ({reason}).",
    refused_call="{name} was not run: a person refused it ({reason}).",
    no_reason="no reason given",
    tool_failed="{name} failed: {error} The same call would fail again: change it, or go on.",
    tool_failed_for_now=(
        "{name} failed: {error} The same call may succeed later: try it again, or go on without it."
    ),
    tool_cancelled="what it waited for was cancelled.",
    delegate_brief="What the sub-agent is to do; it knows nothing but this text.",
    delegate_failed="{name} failed: {error}",
    delegate_unfinished="{name} ended without an answer ({reason}). It had: {output}",
    delegates_too_deep=(
        "Run {run_id!r} was not begun: its sub-agents nest {depth} deep, and"
        " max_delegation_depth={value}. Raise the limit, or hand less on."
    ),
    limit_exceeded=(
        "Run {run_id!r} reached {limit}={value} without an answer; look at its last steps, and"
        " raise the limit if it was getting somewhere."
    ),
    uncertain_effect=(
        "Run {run_id!r} was interrupted while {name} ran (step {step_id}), which is not"
        " idempotent: nobody knows whether it took effect. Find out, then call"
        " Session.resolve({step_id!r}, result=...) or Session.resolve({step_id!r}, rerun=True)."
    ),
    no_object=(
        "No answer fitted the output type in {samples} samples; the last one does not at {path}."
        " The answer itself is in the error's raw."
    ),
    no_object_cut=(
        "The answer was cut by the token limit before the object was whole; raise"
        " Sampling(max_output_tokens=...) or ask for less."
    ),
    no_object_filtered="The provider withheld the answer (content filter), so there is no object.",
    no_object_refused=(
        "The model refused to answer, so there is no object; its words are in the error's raw."
    ),
    unknown_to_gateway=(
        "The agent offers tools that the gateway cannot run: {tools}. Give the gateway the same"
        " tools as the agent."
    ),
    other_configuration=(
        "Run {run_id!r} was created with another configuration, and resuming it with this one"
        " would mix two agents in one journal ({changes}). Resuming is continuing that run; a"
        " different configuration is another run: use a new run_id."
    ),
    other_task=(
        "Run {run_id!r} was created with another task. Resuming is continuing that run: pass"
        " the same task (or None), or use a new run_id."
    ),
    other_requests=(
        "Run {run_id!r} cannot be resumed: at step {step_id} this code asks the model something"
        " else than what is on record. Resume it with the code that began it."
    ),
    changed_from_to="{what}: {before} → {after}",
    changed="{what}: changed",
    part_model="model",
    part_instructions="instructions",
    part_tools="tools",
    part_output="output format",
    part_sampling="sampling",
    part_max_tool_chars="max_tool_chars",
    part_wording="wording",
    economy=EconomyWording(
        title="Run {run_id} · {turns}",
        one_turn="{count} turn",
        many_turns="{count} turns",
        cache="cache",
        cache_served="{ratio:.0%} of the input served from cache",
        growth="growth",
        growth_tokens="{tokens:+.0f} input tokens a turn",
        growth_too_short="unknown with fewer than two turns",
        prefix="prefix",
        prefix_stable="stable during the whole run",
        prefix_rewritten="rewritten {times} — each one throws away all the cache after it",
        one_time="once",
        many_times="{count} times",
        total="total",
        counts="input={input} output={output} cached={cached}",
        not_measured="not measured",
        causes={
            "model": "model: {before} → {after}",
            "system": "system instructions: changed",
            "system_date": (
                "system instructions: the date in them changed ({before} → {after}); say it in a"
                " message instead"
            ),
            "tools_added": "tools: added {names}",
            "tools_removed": "tools: removed {names}",
            "tools_reordered": "tools: another order ({before} → {after})",
            "tools_changed": "tools: another description or schema of {names}",
            "output": "output format: changed",
            "messages": "messages: rewritten, only the first {kept} of {count} are the same",
        },
    ),
    surfaces=SurfaceWording(
        code_only="{name} was not run: it can only be called from a script.",
        script_stopped="The script of {name} was stopped: the run ends here.",
        code_description=(
            "Runs a Python script (standard library only) and gives back what it prints. Use it"
            " when several calls depend on each other or give more data than you need: call the"
            " functions, work on what they return, and print the small result. The functions are"
            " there already, need `await`, take their arguments by position or by name, and"
            " return lists, dicts, numbers or text; `asyncio.gather` works, and a failed call"
            " raises ToolError. Nothing is kept between two scripts. Functions:\n{functions}"
        ),
        code_script="The whole script. Print what you want to see; nothing else comes back.",
        code_syntax="The script was not run, it is no Python: {error}",
        code_failed="The script failed: {error}",
        code_deadline="The script was stopped after {seconds:g} seconds.",
        code_lost="The script's process ended before the script did.{detail}",
        code_cut="\n[… {removed} characters of output were dropped here …]\n",
        code_no_output="(the script printed nothing)",
        code_unknown="There is no function {name}. The functions are: {functions}.",
        code_positional="{name}() takes {count} arguments, and {given} were given by position.",
        code_repeated="{name}() was given {parameter} twice, by position and by name.",
        code_calls="No more calls: a script may make {limit}.",
        command_missing="the program {program} is not installed here.",
        command_option=(
            "{value} would be read as an option of the program, not as a value: nothing was run."
        ),
        command_nul="an argument holds a NUL character, which no program can be given.",
        command_temporary="a temporary failure",
        command_failed="exit code {code} ({meaning}).{detail}",
        command_unknown="not described",
        command_not_started="the program {program} could not be started ({reason}).",
        command_deadline="the program did not end within {seconds:g} seconds and was stopped.",
        command_output="the program wrote more than {limit} bytes; ask it for less.",
        command_not_json="the program's output is not the JSON that was asked for: {error}",
        skill_description=(
            "Gives the instructions of a skill. Read the skill that fits the task before you act;"
            " it says how, and which other files to read. Skills:\n{skills}"
        ),
        skill_name="The name of the skill.",
        skill_argument="What the skill is applied to, where it takes an argument; else empty.",
        skill_unknown="There is no skill {name}. The skills are: {skills}.",
        file_description=(
            "Gives a text file that a skill's instructions refer to. Scripts are shown, not run."
        ),
        file_path="The path as the instructions write it, inside the skill's folder.",
        file_missing="There is no file {path} in this skill. The files are: {files}.",
        file_outside="{path} is not inside the skill's folder, and only what is can be read.",
        file_unreadable="{path} is no UTF-8 text of a readable size.",
    ),
)

SPANISH = Wording(
    name="spanish",
    truncated=(
        "[… recortado: {removed} de {total} caracteres. Pide un rango concreto si necesitas lo"
        " que falta …]"
    ),
    thousands=".",
    problems={
        "expected": "En {path}: se esperaba {expected} y llegó {found}.",
        "missing": "En {path}: falta {names}, que es obligatorio.",
        "unknown": "En {path}: no existe {names}; los nombres son: {allowed}.",
        "not_among": "En {path}: {value} no es ninguno de {choices}.",
        "length": "En {path}: se esperaban {wanted} elementos y llegaron {found}.",
        "not_unique": "En {path}: hay un elemento repetido, y cada uno puede estar una vez.",
        "too_large": "En {path}: {value} tiene más cifras de las que un número guarda exactas.",
        "too_deep": "En {path}: anidado a más de {limit} niveles.",
        "format": "En {path}: {value} no es un {format} válido; escríbelo como {example}.",
        "limit": "En {path}: la regla es {rule} y llegó {found}.",
        "no_alternative": "En {path}: el valor no encaja en ninguna de las formas admitidas ahí.",
        "forbidden": "En {path}: un valor así no se admite ahí.",
        "refused": "En {path}: {reason}.",
        "not_json": "La respuesta no es un único valor JSON: {reason}",
    },
    encodings={
        "too_deep": "El valor tiene más de {limit} niveles de anidamiento en {path}.",
        "key": "La clave {key} en {path} es de tipo {type}; en JSON los nombres son textos.",
        "number": "El número en {path} es {value}, que no existe en JSON.",
        "digits": "Un número tiene más cifras de las que se pueden escribir.",
        "type": "El valor en {path} es de tipo {type}, que no existe en JSON.",
        "set": (
            "El valor en {path} es un conjunto, que no tiene orden: devuelve una lista ordenada."
        ),
        "model": "El {type} en {path} no da JSON: {reason}",
        "value": "Un valor de tipo {type} no existe en JSON.",
        "halves": (
            "Un texto contiene por separado las dos mitades de un carácter (sustitutos), y JSON no"
            " las devuelve así."
        ),
    },
    tool_arguments="Los argumentos de {name} no encajan. {problem}",
    tool_value_refused="No se ejecutó nada. Llámala otra vez con otro valor.",
    mcp_lost="el servidor ha terminado; ya no se puede llamar a sus herramientas.{detail}",
    mcp_timeout="el servidor no respondió en {seconds} segundos.",
    mcp_wants_input="el servidor pide datos a una persona, y aquí no los recibe.",
    mcp_unusable="la respuesta del servidor no es lo que declara: {detail}",
    mcp_unsendable="un texto de los argumentos contiene medio carácter (un surrogate suelto).",
    mcp_no_detail="el servidor comunica un error y no dice más.",
    search_description="Busca herramientas por lo que hacen: da nombre, descripción y esquema.",
    search_query="Lo que quieres hacer, en pocas palabras.",
    search_found_none="Ninguna herramienta coincide. Los nombres son: {names}.",
    dispatch_description="Llama a una herramienta que encontró una búsqueda.",
    dispatch_name="El nombre de la herramienta.",
    dispatch_arguments="Sus argumentos, como dice su esquema.",
    tool_returned_unusable=(
        "La herramienta {name} se ejecutó, pero devolvió un {type}, que no se te puede mostrar."
        " Repetir la llamada no servirá; continúa sin su resultado y dilo."
    ),
    ask_again="Tu último turno no trae respuesta. Responde ahora o llama a una herramienta.",
    output_instructions=(
        "Responde con un único objeto JSON que cumpla este JSON Schema, y con nada más:\n{schema}"
    ),
    output_invalid=(
        "Tu respuesta no cumple el esquema: {error} Responde otra vez solo con el objeto JSON."
    ),
    unreadable_arguments=(
        "{name} no se ejecutó: los argumentos no son un objeto JSON. Llámala otra vez con JSON"
        " válido."
    ),
    unknown_tool="No existe la herramienta {name}. Las herramientas son: {tools}.",
    invalid_call=(
        "{name} no se ejecutó: {error} Llámala otra vez con argumentos que cumplan este JSON"
        " Schema: {schema}"
    ),
    denied_call="{name} no se ejecutó: la política no lo permite ({reason}).",
    refused_call="{name} no se ejecutó: una persona lo rechazó ({reason}).",
    no_reason="sin motivo declarado",
    tool_failed=(
        "{name} falló: {error} La misma llamada volvería a fallar: cámbiala o sigue adelante."
    ),
    tool_failed_for_now=(
        "{name} falló: {error} La misma llamada puede funcionar más tarde: repítela, o sigue sin"
        " ella."
    ),
    tool_cancelled="se canceló aquello que esperaba.",
    delegate_brief="Lo que debe hacer el subagente; no sabe nada más que este texto.",
    delegate_failed="{name} falló: {error}",
    delegate_unfinished="{name} terminó sin respuesta ({reason}). Tenía: {output}",
    delegates_too_deep=(
        "El run {run_id!r} no se empezó: sus subagentes se anidan {depth} niveles y"
        " max_delegation_depth={value}. Sube el límite o delega menos."
    ),
    limit_exceeded=(
        "El run {run_id!r} llegó a {limit}={value} sin una respuesta; mira sus últimos pasos y"
        " sube el límite si iba bien encaminado."
    ),
    uncertain_effect=(
        "El run {run_id!r} se interrumpió mientras se ejecutaba {name} (paso {step_id}), que no"
        " es idempotente: nadie sabe si tuvo efecto. Averígualo y llama a"
        " Session.resolve({step_id!r}, result=...) o a Session.resolve({step_id!r}, rerun=True)."
    ),
    no_object=(
        "Ninguna respuesta cumplió el tipo de salida en {samples} muestras; la última no lo cumple"
        " en {path}. La respuesta está en el raw del error."
    ),
    no_object_cut=(
        "La respuesta se cortó por el límite de tokens antes de completar el objeto; sube"
        " Sampling(max_output_tokens=...) o pide menos."
    ),
    no_object_filtered=(
        "El proveedor retuvo la respuesta (filtro de contenido), así que no hay objeto."
    ),
    no_object_refused=(
        "El modelo se negó a responder, así que no hay objeto; sus palabras están en el raw del"
        " error."
    ),
    unknown_to_gateway=(
        "El agente ofrece herramientas que el gateway no puede ejecutar: {tools}. Dale al gateway"
        " las mismas herramientas que al agente."
    ),
    other_configuration=(
        "El run {run_id!r} se creó con otra configuración y reanudarlo con esta mezclaría dos"
        " agentes en un mismo diario ({changes}). Reanudar es continuar ese run; una"
        " configuración distinta es otro run — usa un run_id nuevo."
    ),
    other_task=(
        "El run {run_id!r} se creó con otra tarea. Reanudar es continuar ese run: pasa la misma"
        " tarea (o None), o usa un run_id nuevo."
    ),
    other_requests=(
        "El run {run_id!r} no se puede reanudar: en el paso {step_id} este código pregunta al"
        " modelo algo distinto de lo que consta. Reanúdalo con el código que lo empezó."
    ),
    changed_from_to="{what}: {before} → {after}",
    changed="{what}: cambiaron",
    part_model="modelo",
    part_instructions="instrucciones",
    part_tools="herramientas",
    part_output="formato de salida",
    part_sampling="muestreo",
    part_max_tool_chars="max_tool_chars",
    part_wording="redacción",
    economy=EconomyWording(
        title="Run {run_id} · {turns}",
        one_turn="{count} turno",
        many_turns="{count} turnos",
        cache="caché",
        cache_served="{ratio:.0%} de la entrada servida de caché",
        growth="crecimiento",
        growth_tokens="{tokens:+.0f} tokens de entrada por turno",
        growth_too_short="no se sabe con menos de dos turnos",
        prefix="prefijo",
        prefix_stable="estable durante todo el run",
        prefix_rewritten="reescrito {times} — cada una tira toda la caché posterior",
        one_time="{count} vez",
        many_times="{count} veces",
        total="total",
        counts="entrada={input} salida={output} caché={cached}",
        not_measured="sin medir",
        causes={
            "model": "modelo: {before} → {after}",
            "system": "instrucciones de sistema: cambiaron",
            "system_date": (
                "instrucciones de sistema: cambió la fecha que llevan dentro ({before} →"
                " {after}); dila en un mensaje"
            ),
            "tools_added": "herramientas: se añadió {names}",
            "tools_removed": "herramientas: se quitó {names}",
            "tools_reordered": "herramientas: otro orden ({before} → {after})",
            "tools_changed": "herramientas: otra descripción u otro esquema de {names}",
            "output": "formato de salida: cambió",
            "messages": "mensajes: reescritos, solo los {kept} primeros de {count} son los mismos",
        },
    ),
    surfaces=SurfaceWording(
        code_only="{name} no se ejecutó: solo se puede llamar desde un script.",
        script_stopped="El script de {name} se detuvo: el run termina aquí.",
        code_description=(
            "Ejecuta un script de Python (solo la biblioteca estándar) y devuelve lo que imprime."
            " Úsala cuando varias llamadas dependan unas de otras o den más datos de los que"
            " necesitas: llama a las funciones, trabaja con lo que devuelven e imprime el"
            " resultado pequeño. Las funciones ya están ahí, necesitan `await`, toman sus"
            " argumentos por posición o por nombre y devuelven listas, dicts, números o texto;"
            " `asyncio.gather` funciona, y una llamada fallida lanza ToolError. Nada se conserva"
            " entre dos scripts. Funciones:\n{functions}"
        ),
        code_script="El script entero. Imprime lo que quieras ver; no vuelve nada más.",
        code_syntax="El script no se ejecutó, no es Python: {error}",
        code_failed="El script falló: {error}",
        code_deadline="El script se detuvo a los {seconds:g} segundos.",
        code_lost="El proceso del script terminó antes que el script.{detail}",
        code_cut="\n[… aquí se descartaron {removed} caracteres de salida …]\n",
        code_no_output="(el script no imprimió nada)",
        code_unknown="No existe la función {name}. Las funciones son: {functions}.",
        code_positional="{name}() toma {count} argumentos y se dieron {given} por posición.",
        code_repeated="{name}() recibió {parameter} dos veces, por posición y por nombre.",
        code_calls="No hay más llamadas: un script puede hacer {limit}.",
        command_missing="el programa {program} no está instalado aquí.",
        command_option=(
            "el programa leería {value} como una opción y no como un valor: no se ejecutó nada."
        ),
        command_nul="un argumento contiene un carácter NUL, que ningún programa admite.",
        command_temporary="un fallo pasajero",
        command_failed="código de salida {code} ({meaning}).{detail}",
        command_unknown="sin describir",
        command_not_started="el programa {program} no se pudo iniciar ({reason}).",
        command_deadline="el programa no terminó en {seconds:g} segundos y se detuvo.",
        command_output="el programa escribió más de {limit} bytes; pídele menos.",
        command_not_json="la salida del programa no es el JSON que se pidió: {error}",
        skill_description=(
            "Da las instrucciones de una skill. Lee la que encaje con la tarea antes de actuar;"
            " dice cómo hacerlo y qué otros ficheros leer. Skills:\n{skills}"
        ),
        skill_name="El nombre de la skill.",
        skill_argument="A qué se aplica la skill, si toma un argumento; si no, vacío.",
        skill_unknown="No existe la skill {name}. Las skills son: {skills}.",
        file_description=(
            "Da un fichero de texto al que remiten las instrucciones de una skill. Los scripts se"
            " muestran, no se ejecutan."
        ),
        file_path="La ruta como la escriben las instrucciones, dentro de la carpeta de la skill.",
        file_missing="No existe el fichero {path} en esta skill. Los ficheros son: {files}.",
        file_outside="{path} no está en la carpeta de la skill, y solo se lee lo que está.",
        file_unreadable="{path} no es texto UTF-8 de un tamaño legible.",
    ),
)

_in_use: ContextVar[Wording] = ContextVar("synaptum_wording", default=ENGLISH)


def current_wording() -> Wording:
    """The wording in use here: that of the agent whose call is being carried out.

    A tool is called through a gateway that knows nothing of languages, so the wording goes
    along in the context, as `decimal` does with its precision.
    """
    return _in_use.get()


@contextlib.contextmanager
def use_wording(wording: Wording) -> Iterator[None]:
    """Put a wording in use for the calls made inside the block.

    Never `yield` from an async generator inside the block: the caller would see it too.
    """
    token = _in_use.set(wording)
    try:
        yield
    finally:
        _in_use.reset(token)
