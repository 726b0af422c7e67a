"""On PostgreSQL the function behind the index of words is made anew, with its cost; what it gives is the same."""

from django.db import migrations


def make_function(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        from chatapp.searching import postgres

        postgres.make_function(schema_editor.connection)


class Migration(migrations.Migration):

    dependencies = [
        ("chatapp", "0017_imports_take_turns"),
    ]

    operations = [migrations.RunPython(make_function, migrations.RunPython.noop)]
