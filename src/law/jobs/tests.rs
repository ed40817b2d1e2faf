//! Law J: the jobs of a session over random histories, against a plain list of what happened.
