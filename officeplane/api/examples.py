"""Bodies to try, for the OpenAPI document."""

from typing import Any, Final

from officeplane.domain.lifecycle import TaskState

_Examples = dict[str, Any]

TASK: Final[_Examples] = {
    "one task": {"value": {"taskType": "sleep", "payload": {"seconds": 2}}},
    "on a document": {
        "summary": "Runs after what waits for the same document, unless it is more urgent",
        "value": {
            "taskType": "sleep",
            "documentId": "contract-42",
            "title": "Wait a little",
            "payload": {"seconds": 0.5},
            "priority": "HIGH",
            "maxRetries": 5,
            "timeoutSeconds": 30,
            "tags": ["demo"],
            "idempotencyKey": "contract-42/wait/1",
        },
    },
    "an edit": {
        "summary": "Of a document that is there; its next revision",
        "value": {
            "taskType": "add_section",
            "documentId": "plan",
            "payload": {"title": "Risks", "content": "Written by **ann**."},
            "createdBy": "ann",
        },
    },
    "a batch": {
        "summary": "Children run one after the other; a later one may use an earlier one's result",
        "value": {
            "documentId": "contract-42",
            "children": [
                {"key": "first", "taskType": "sleep", "payload": {"seconds": 1}},
                {"taskType": "sleep", "payload": {"seconds": {"$ref": "first.slept"}}},
            ],
        },
    },
    "done by an agent": {
        "value": {
            "taskType": "code",
            "payload": {
                "goal": "The importer reads files with Windows line ends.",
                "target": "src/importer.py",
                "constraints": ["No other dependency"],
            },
            "requiredCapabilities": ["git", "python"],
            "models": ["large"],
            "fallbackModels": ["small"],
            "output": {"type": "code"},
        },
    },
    "later, with its own retries": {
        "value": {
            "taskType": "noop",
            "runAt": "2030-01-31T12:00:00Z",
            "priority": {"scale": 10, "value": 8},
            "retry": {"strategy": "fixed", "initialSeconds": 10, "noRetryOn": ["timeout"]},
            "onRetry": "yield",
        }
    },
}
BULK: Final[_Examples] = {
    "two tasks": {
        "value": [
            {"taskType": "noop"},
            {"taskType": "sleep", "documentId": "contract-42", "payload": {"seconds": 1}},
        ]
    }
}
PATCH: Final[_Examples] = {
    "more urgent": {"value": {"priority": "HIGH", "deadline": "2030-01-31T12:00:00Z"}},
    "later": {"value": {"runAt": "2030-01-31T12:00:00Z"}},
    "no deadline": {"value": {"deadline": None}},
}
DAG: Final[_Examples] = {
    "a diamond": {
        "summary": "Two that run side by side, and one that waits for both and uses what they found",
        "value": {
            "title": "Report",
            "tasks": [
                {"key": "outline", "taskType": "sleep", "payload": {"seconds": 0.1}},
                {"key": "left", "taskType": "sleep", "payload": {"seconds": 0.1}, "dependsOn": ["outline"]},
                {"key": "right", "taskType": "sleep", "payload": {"seconds": 0.2}, "dependsOn": ["outline"]},
                {
                    "key": "last",
                    "taskType": "sleep",
                    "payload": {"seconds": {"$ref": "left.slept"}},
                    "dependsOn": ["left", "right"],
                },
            ],
        },
    }
}
DAG_TASKS: Final[_Examples] = {
    "one more": {"value": {"tasks": [{"key": "review", "taskType": "noop", "dependsOn": ["last"]}]}}
}
TASK_TYPE: Final[_Examples] = {
    "with a payload of its own": {
        "value": {
            "title": "Say a text in another language",
            "payloadSchema": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "language": {"type": "string"}},
                "required": ["text", "language"],
                "additionalProperties": False,
            },
            "defaults": {"timeoutSeconds": 1800, "maxRetries": 2, "requiredCapabilities": ["languages"]},
        }
    }
}
CANCEL_MANY: Final[_Examples] = {
    "what waits of a type": {
        "value": {
            "state": [TaskState.QUEUED, TaskState.RETRYING],
            "taskType": "sleep",
            "reason": "The price list was wrong.",
        }
    }
}
RETRY_MANY: Final[_Examples] = {
    "what failed of a document": {"value": {"state": [TaskState.FAILED], "documentId": "plan"}}
}
CANCEL: Final[_Examples] = {"with a reason": {"value": {"reason": "No longer needed."}}}
NOTHING: Final[_Examples] = {"nothing": {"value": {}}}
DOCUMENT: Final[_Examples] = {"a text": {"value": {"id": "plan", "format": "docx", "title": "The plan"}}}
PREVIEW: Final[_Examples] = {
    "an edit": {"value": {"taskType": "add_section", "payload": {"title": "Risks", "content": "Written by **ann**."}}},
    "several, all or none": {
        "value": {
            "atomic": True,
            "children": [
                {"key": "risks", "taskType": "add_chapter", "payload": {"title": "Risks"}},
                {"taskType": "add_section", "payload": {"title": "Legal", "chapterId": {"$ref": "risks.id"}}},
            ],
        }
    },
}
REVERT: Final[_Examples] = {"to the first": {"value": {"toRevision": 1}}}
RESOLVE: Final[_Examples] = {
    "try again": {"value": {"resolution": "retry", "note": "The server is back."}},
    "try something else": {"value": {"resolution": "modify_and_retry", "payload": {"seconds": 1}}},
    "a note alone": {"value": {"note": "Asked the authors of the template."}},
}
RESOLVE_ALIKE: Final[_Examples] = {
    "all of one cause": {
        "value": {"fingerprint": "2f1d8c53a9e07b64", "resolution": "retry", "resolvedBy": "alice"},
    }
}
BREAKER: Final[_Examples] = {
    "soon": {
        "summary": "After three failures in a row, for half a minute",
        "value": {"failureThreshold": 3, "halfOpenAfterSeconds": 30},
    },
    "as everywhere": {"summary": "As the installation is set up", "value": {}},
}

LIMITS: Final[_Examples] = {
    "a rate": {"value": {"ratePerSecond": 5}},
    "both": {"summary": "Two at once, one every ten seconds", "value": {"ratePerSecond": 0.1, "concurrency": 2}},
}

KEY: Final[_Examples] = {
    "a bot that edits": {"value": {"name": "bot", "scopes": ["read", "edit"]}},
    "for a while": {"value": {"name": "auditor", "scopes": ["read"], "expiresAt": "2040-01-31T12:00:00Z"}},
    "narrowed": {
        "summary": "The first key of a space, for some of its documents",
        "value": {
            "name": "writer",
            "scopes": ["read", "edit"],
            "space": "legal",
            "documents": ["contract-*", "-"],
            "taskTypes": ["add_section", "noop"],
            "maxPriority": "NORMAL",
        },
    },
}
KEY_CHANGE: Final[_Examples] = {
    "other scopes": {"value": {"scopes": ["read"]}},
    "all documents, for a while": {"value": {"documents": None, "expiresAt": "2040-01-31T12:00:00Z"}},
}
QUOTAS: Final[_Examples] = {
    "a small one": {"value": {"maxDocuments": 1000, "maxBytes": 1000000000, "submissionsPerMinute": 600}},
    "without limits": {
        "value": {
            "maxWaitingTasks": None,
            "maxDocuments": None,
            "maxBytes": None,
            "maxRevisionsPerDocument": None,
            "maxStreams": None,
            "maxWaits": None,
        }
    },
    "as usual": {"value": {}},
}
ROTATE: Final[_Examples] = {
    "an hour of both": {"value": {"overlapSeconds": 3600}},
    "a day of both": {"value": {}},
}

AGENT: Final[_Examples] = {
    "an agent": {
        "summary": "Reviews and tests; gets what asks for no more than it can",
        "value": {
            "type": "claude",
            "title": "Reviewer",
            "capabilities": ["python", "security"],
            "taskTypes": ["review", "test"],
            "models": ["large", "small"],
            "maxConcurrentTasks": 2,
            "version": "1.4.0",
            "startSeconds": 30,
        },
    },
    "as little as possible": {"value": {"capabilities": [], "taskTypes": ["code"], "maxConcurrentTasks": 1}},
}
AGENT_CHANGE: Final[_Examples] = {
    "hold it back": {"value": {"status": "paused"}},
    "let it finish": {"value": {"status": "draining"}},
}
CLAIM: Final[_Examples] = {
    "one, when there is one": {"value": {"max": 1, "waitSeconds": 5}},
    "some, at once": {"value": {"max": 4, "start": True}},
}
HEARTBEAT: Final[_Examples] = {
    "nothing in hand": {"value": {}},
    "one claim": {
        "value": {
            "claims": [
                {
                    "claimId": "01890a5d-ac96-774b-bcce-b302099a8057",
                    "progress": {"step": 2},
                    "costUsd": 0.012345,
                    "tokens": {"input": 1200, "output": 85},
                }
            ]
        }
    },
}
CHECKPOINT: Final[_Examples] = {"a step": {"value": {"value": {"done": ["outline"]}, "costUsd": 0.01}}}
COMPLETE: Final[_Examples] = {
    "a result": {
        "value": {
            "result": {"answer": "It holds."},
            "decisionReport": {
                "summary": "Read both contracts.",
                "decisions": [{"what": "Compared clause by clause", "why": "They are numbered alike"}],
            },
            "costUsd": 0.1834,
            "tokens": {"input": 9000, "cachedInput": 30000, "output": 700},
        }
    },
    "edits": {
        "summary": "One revision of the task's document, or none",
        "value": {"edits": [{"taskType": "add_section", "payload": {"title": "Risks", "content": "None."}}]},
    },
}
FAIL: Final[_Examples] = {
    "an error": {"value": {"kind": "error", "message": "The model gave no answer."}},
    "a rate limit": {"value": {"kind": "rate_limited", "message": "Too many tokens.", "retryAfterSeconds": 20}},
}
RELEASE: Final[_Examples] = {
    "not mine": {"value": {"reason": "declined"}},
    "later": {"value": {"reason": "The site is down", "notBefore": "2030-01-31T12:00:00Z", "checkpoint": {"page": 3}}},
}
