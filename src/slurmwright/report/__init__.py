"""Values to text, JSON, JUnit, SARIF and HTML; nothing here decides anything."""
