"""The log of a run."""

import gzip
import json
import pathlib
from typing import Any, Dict, Iterator


class EventLog:
    """events.jsonl of a run folder and the segments before it (docs/run-folder.md)."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self._part = 0  # the segments read whole
        self._position = 0  # in the next one, uncompressed

    def read_on(self) -> Iterator[Dict[str, Any]]:
        """The events recorded since the last call; one that is not whole is left for the next."""
        last = False
        while not last:
            with open(self.folder / "events.jsonl", "rb") as log:
                first = log.readline()
                head = json.loads(first) if first.endswith(b"\n") else {}
                segments = head["segments"] if head.get("type") == "segments" else []
                last = self._part == len(segments)
                if last:
                    log.seek(self._position)
                    text = log.read()
                else:
                    text = gzip.decompress((self.folder / segments[self._part]["file"]).read_bytes())[self._position:]
            text = text[:text.rfind(b"\n") + 1]
            if last:
                self._position += len(text)
            else:
                self._part, self._position = self._part + 1, 0
            for line in text.splitlines():
                event = json.loads(line)
                if event["type"] != "segments":
                    yield event
