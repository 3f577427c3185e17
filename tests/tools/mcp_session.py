#!/usr/bin/env python3
"""A session of the public client library (PyPI: mcp) with `warpath mcp RUN`.

usage: mcp_session.py PROGRAM RUN [SOURCE]

Initializes, lists the tools and calls each; SOURCE is told as a change of the baseline. Prints a line a step and exits with 1 at the first that fails.
"""
import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def expect(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)
    print("ok", what)


def wire(message):
    """A message with the protocol's own names, which the library's releases spell differently."""
    return message.model_dump(by_alias=True)


async def call(session, name, arguments):
    result = wire(await session.call_tool(name, arguments=arguments))
    expect(not result["isError"], f"{name} {json.dumps(arguments)[:60]}")
    return json.loads(result["content"][0]["text"])


async def main(program, run, source):
    server = StdioServerParameters(command=program, args=["mcp", run])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = wire(await session.initialize())
        expect(hello["serverInfo"]["name"] == "warpath", f"initialize, version {hello['protocolVersion']}")
        tools = sorted(tool.name for tool in (await session.list_tools()).tools)
        expect(tools == ["ask", "diagnose", "inspect", "status", "tell"], "tools " + " ".join(tools))
        await session.send_ping()
        expect((await call(session, "status", {}))["nodes"] > 0, "nodes")
        question = await call(session, "ask", {"node": "baseline"})
        told = {"node": question["node"], "move": "other" if source else question["legal"][0]["move"]}
        if source:
            with open(source, encoding="utf-8") as file:
                told["source"] = file.read()
        answer = await call(session, "tell", told)
        expect("status" in answer, "told: " + answer.get("status", answer.get("why", "")))
        await call(session, "inspect", {"node": answer["key"]})
        await call(session, "diagnose", {"node": answer["key"]})
        refused = wire(await session.call_tool("inspect", arguments={"node": "no such node"}))
        expect(refused["isError"], "an unknown node is refused: " + refused["content"][0]["text"])


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) == 4 else None))
