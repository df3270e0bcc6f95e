"""Redis, the doorbell: hints that there may be work, document locks, announcements. Never truth."""

from officeplane.dispatch.announcements import Announcement, Announcements, Listener, Reconnected
from officeplane.dispatch.availability import Availability, RedisUnavailable
from officeplane.dispatch.bells import Bells
from officeplane.dispatch.connection import Connection
from officeplane.dispatch.doorbell import Doorbell, open_doorbell
from officeplane.dispatch.keys import Keyspace
from officeplane.dispatch.locks import Hold, LockRequest, Locks, Released

__all__ = [
    "Announcement",
    "Announcements",
    "Availability",
    "Bells",
    "Connection",
    "Doorbell",
    "Hold",
    "Keyspace",
    "Listener",
    "LockRequest",
    "Locks",
    "Reconnected",
    "RedisUnavailable",
    "Released",
    "open_doorbell",
]
