"""An index of the words of titles, summaries and messages; it is made of what is stored, whatever is there already."""

from django.db import migrations


def text_search(connection):
    if connection.vendor == "postgresql":
        from chatapp.searching import postgres

        return postgres
    from chatapp.searching import sqlite

    return sqlite


def make_index(apps, schema_editor):
    text_search(schema_editor.connection).make_index(schema_editor.connection)


def drop_index(apps, schema_editor):
    text_search(schema_editor.connection).drop_index(schema_editor.connection)


class Migration(migrations.Migration):

    dependencies = [
        ("chatapp", "0005_what_compactions_leave"),
    ]

    operations = [migrations.RunPython(make_index, drop_index)]
