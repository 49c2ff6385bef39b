"""The lab: accuracy tables and comparisons built on plandp's public interface; nothing here is private."""
