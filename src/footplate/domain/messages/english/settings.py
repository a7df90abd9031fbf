"""What can be wrong with the server's settings."""

TABLE = {
    "price_negative": "must not be below 0",
    "storage_name_reserved": "{storage} is reserved for the job's own folders: choose another name",
    "storage_path_relative": "must be absolute, such as /srv/datasets",
    "no_setting": "there is no setting {setting:quoted}",
    "setting_not_live": "{setting} cannot be changed while the server runs: set it in settings.toml and start the server again",
    "setting_said_elsewhere": "{setting} is set in settings.toml: change it there and start the server again",
    "setting_unknown": "is not a setting; known: {known:comma}",
    "not_expected_but": "must be {wanted}, not {given:quoted}",
    "tls_half": "is missing: a certificate needs its key, and a key its certificate",
    "not_network": "{given:quoted} is not an address such as 127.0.0.1 or a network such as 10.0.0.0/8",
    "storage_in_home": "{folder} contains the server's home folder {home} or lies in it: jobs would see the platform's files",
    "not_toml": "is not valid TOML: {error}",
}
