from accounts.errors import Conflict, Invalid


class BadFile(Invalid):
    """The file can't be read as what it should be. With the fact `mendable` it may be
    read otherwise."""

    code = "bad_file"


class AlreadyImported(Conflict):
    """This very file has been imported here before. Say `again` to import it anew."""

    code = "already_imported"


class NotReady(Conflict):
    """This import has begun already, or has ended."""

    code = "import_not_ready"
