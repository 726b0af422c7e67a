"""The one row of settings is made here, so that nobody's first look at a page has to make it."""

from django.db import migrations


def make_settings(apps, schema_editor):
    apps.get_model("chatapp", "SiteSettings").objects.get_or_create(pk=1)


class Migration(migrations.Migration):

    dependencies = [
        ("chatapp", "0024_second_factors_are_asked_for"),
    ]

    operations = [migrations.RunPython(make_settings, migrations.RunPython.noop)]
