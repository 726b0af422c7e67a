"""On PostgreSQL the index of messages' words is made anew, without what is being written or was deleted."""

from django.db import migrations


def narrow_index(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        from chatapp.searching import postgres

        postgres.narrow_index(schema_editor.connection)


class Migration(migrations.Migration):

    dependencies = [
        ("chatapp", "0026_questions_have_their_indexes"),
    ]

    operations = [migrations.RunPython(narrow_index, migrations.RunPython.noop)]
