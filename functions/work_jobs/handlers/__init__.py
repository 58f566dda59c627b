"""The handlers of the types of job: every file in this folder is imported when the function starts."""
