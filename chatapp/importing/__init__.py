"""Files that are imported: kept on the disk while they come and are read, chat by chat, beside everything else."""

from chatapp.importing.files import add_part, discard, path_of
from chatapp.importing.working import use_loop, wake, work_for_ever, work_off

__all__ = ["add_part", "discard", "path_of", "use_loop", "wake", "work_for_ever", "work_off"]
