from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("number", models.IntegerField(primary_key=True, serialize=False)),
                ("holder", models.UUIDField()),
                ("until", models.DateTimeField()),
            ],
        ),
    ]
